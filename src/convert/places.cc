#include "convert/places.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file_error.h"
#include "container/shards.h"

namespace manyspan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGguf = ".gguf", kSafetensors = ".safetensors";

std::string numbered(const char* form, std::size_t i, std::size_t count) {
  char tail[64];
  std::snprintf(tail, sizeof tail, form, static_cast<unsigned>(i + 1), static_cast<unsigned>(count));
  return tail;
}

bool same(const std::string& a, const std::string& b) {
  struct stat one {
  }, other{};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

Result<void> not_read(const std::string& path, const std::vector<std::string>& read) {
  for (const std::string& file : read) {
    if (same(path, file))
      return Error(Fault::invalid, path + ": is part of the input, " + file + ", which is never replaced");
  }
  return {};
}

Error there(const std::string& path) {
  return Error(Fault::invalid, path + ": is there already; name another place, or give --overwrite");
}

// Only what a conversion writes may be swept away with a folder.
bool known(const std::string& name) {
  constexpr const char* kNames[] = {"config.json",           "tokenizer.json",
                                    "tokenizer_config.json", "generation_config.json",
                                    "engram_token_map.json", kIndexName};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         name.ends_with(kSafetensors);
}

Result<void> check_folder(const std::string& out, const std::vector<std::string>& read, bool overwrite) {
  std::error_code fault;
  TRY(not_read(out, read));
  if (!fs::is_directory(fs::symlink_status(out, fault))) {
    return Error(Fault::invalid, out + ": is there already, and no folder; name another place");
  }
  for (fs::directory_iterator at(out, fault), end; !fault && at != end; at.increment(fault)) {
    TRY(not_read(at->path().string(), read));
    if (!overwrite) return there(out);
    if (!known(at->path().filename().string()) || !at->is_regular_file(fault)) {
      return Error(Fault::invalid, out + ": holds " + at->path().filename().string() +
                                       ", which no conversion wrote, so it is not replaced");
    }
  }
  if (fault) return Error(Fault::exhausted, out + ": " + fault.message());
  return {};
}

Error cannot_move(const std::string& to) {
  return Error(Fault::exhausted, file_error(to, "cannot put the result there", errno).message());
}

Result<void> put_folder(const std::string& files, const std::string& out) {
  std::error_code fault;
  if (fs::is_empty(out, fault) || !fs::exists(out, fault)) {
    if (std::rename(files.c_str(), out.c_str()) != 0) return cannot_move(out);
    return {};
  }
  const std::string old = out + ".old-" + std::to_string(::getpid());
  if (std::rename(out.c_str(), old.c_str()) != 0) return cannot_move(out);
  if (std::rename(files.c_str(), out.c_str()) != 0) {
    const Error error = cannot_move(out);
    std::rename(old.c_str(), out.c_str());
    return error;
  }
  fs::remove_all(old, fault);
  return {};
}

}  // namespace

std::string Place::file_name(std::size_t i, std::size_t count) const {
  if (target == Target::safetensors)
    return count == 1 ? "model.safetensors" : "model" + numbered("-%05u-of-%05u.safetensors", i, count);
  const std::string name = fs::path(out).filename().string();
  if (count == 1) return name;
  return name.substr(0, name.size() - kGguf.size()) + numbered("-%05u-of-%05u.gguf", i, count);
}

std::string Place::final_path(std::size_t i, std::size_t count) const {
  const fs::path folder = target == Target::safetensors ? fs::path(out) : fs::path(out).parent_path();
  return (folder / file_name(i, count)).string();
}

Result<Place> place_of(const std::string& out) {
  std::string path = out;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string name = fs::path(path).filename().string();
  if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos)
    return Error(Fault::invalid, out + ": no name for a result; give NAME.gguf or the name of a folder");
  if (name.ends_with(kSafetensors)) {
    return Error(Fault::invalid,
                 out + ": safetensors are written as a folder, with config.json; give the folder's name");
  }
  if (name == kGguf) return Error(Fault::invalid, out + ": no name before .gguf");
  const std::string folder = fs::path(path).parent_path().string();
  std::error_code unknown;
  if (!folder.empty() && !fs::is_directory(folder, unknown))
    return Error(Fault::invalid, out + ": there is no folder " + folder);
  return Place{path, name.ends_with(kGguf) ? Target::gguf : Target::safetensors};
}

Result<void> check_place(const Place& place, std::size_t files, const std::vector<std::string>& read,
                         bool overwrite) {
  std::error_code unknown;
  TRY(not_read(place.partial(), read));
  if (place.target == Target::safetensors) {
    if (!fs::exists(fs::symlink_status(place.out, unknown))) return {};
    return check_folder(place.out, read, overwrite);
  }
  for (std::size_t i = 0; i < files; ++i) {
    const std::string path = place.final_path(i, files);
    if (!fs::exists(fs::symlink_status(path, unknown))) continue;
    TRY(not_read(path, read));
    if (fs::is_directory(path, unknown)) return Error(Fault::invalid, path + ": is a folder");
    if (!overwrite) return there(path);
  }
  return {};
}

Result<void> check_room(const Place& place, std::uint64_t more_bytes) {
  const std::string folder = fs::path(place.out).parent_path().string();
  struct statvfs facts {};
  if (::statvfs(folder.empty() ? "." : folder.c_str(), &facts) != 0) return {};  // then writing says it
  const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  if (more_bytes <= free) return {};
  return Error(Fault::exhausted, place.out + ": " + std::to_string(more_bytes) +
                                     " bytes are to be written, but only " + std::to_string(free) +
                                     " are free there");
}

Result<void> put_in_place(const Place& place, const std::string& files, std::size_t count) {
  if (place.target == Target::safetensors) return put_folder(files, place.out);
  for (std::size_t i = count; i-- > 0;) {
    const std::string from = files + "/" + place.file_name(i, count), to = place.final_path(i, count);
    if (std::rename(from.c_str(), to.c_str()) != 0) return cannot_move(to);
  }
  return {};
}

}  // namespace manyspan
