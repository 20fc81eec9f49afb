#include "convert/places.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
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

Result<void> not_read(const std::string& path, const std::vector<ReadFile>& read) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  for (const ReadFile& file : read) {
    if (found.st_dev == file.device && found.st_ino == file.number)
      return Error(Fault::invalid,
                   path + ": is part of the input, " + file.path + ", which is never replaced");
  }
  return {};
}

// Nor may the input lie where the result is made.
Result<void> not_in_partial(const Place& place, const std::vector<ReadFile>& read) {
  const std::string files = place.partial() + "/files";
  for (const std::string& path : {place.partial(), files, place.partial() + "/journal"})
    TRY(not_read(path, read));
  std::error_code fault;
  for (fs::directory_iterator at(files, fault), end; !fault && at != end; at.increment(fault))
    TRY(not_read(at->path().string(), read));
  return {};
}

// "STEM-00002-of-00005.gguf".
bool is_numbered(std::string_view name, std::string_view stem, std::string_view ending) {
  if (!name.starts_with(stem) || !name.ends_with(ending)) return false;
  constexpr std::string_view kForm = "-00000-of-00000";
  if (name.size() != stem.size() + kForm.size() + ending.size()) return false;
  const std::string_view middle = name.substr(stem.size(), kForm.size());
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = middle[i] >= '0' && middle[i] <= '9';
    if (kForm[i] == '0' ? !digit : middle[i] != kForm[i]) return false;
  }
  return true;
}

// GGUFs that go by the result's name and are none of its files: the parts of a set of another number, or one file.
std::vector<std::string> others_of_name(const Place& place, std::size_t count) {
  const fs::path out(place.out), folder = out.has_parent_path() ? out.parent_path() : ".";
  const std::string name = out.filename().string(), stem = name.substr(0, name.size() - kGguf.size());
  std::vector<std::string> others;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    const std::string here = at->path().filename().string();
    if (here != name && !is_numbered(here, stem, kGguf)) continue;
    bool own = false;
    for (std::size_t i = 0; i < count; ++i) own = own || here == place.file_name(i, count);
    if (!own) others.push_back((out.has_parent_path() ? folder / here : fs::path(here)).string());
  }
  std::sort(others.begin(), others.end());
  return others;
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
         name == "model.safetensors" || is_numbered(name, "model", kSafetensors);
}

Result<void> check_folder(const std::string& out, const std::vector<ReadFile>& read, bool overwrite) {
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

// What the files of a folder take of the disk.
std::uint64_t bytes_in(const std::string& folder) {
  constexpr std::uint64_t kUnit = 512;  // of st_blocks
  std::uint64_t sum = 0;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    struct stat facts {};
    if (::lstat(at->path().c_str(), &facts) == 0) sum += static_cast<std::uint64_t>(facts.st_blocks) * kUnit;
  }
  return sum;
}

Error cannot_move(const std::string& to) {
  return Error(Fault::exhausted, file_error(to, "cannot put the result there", errno).message());
}

// A system or a disk that cannot do both at once looks first.
int rename_unless_there(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  struct stat found {};
  if (::lstat(to.c_str(), &found) == 0) return errno = EEXIST, -1;
  return std::rename(from.c_str(), to.c_str());
}

Result<void> move(const std::string& from, const std::string& to, bool overwrite) {
  const int moved = overwrite ? std::rename(from.c_str(), to.c_str()) : rename_unless_there(from, to);
  if (moved == 0) return {};
  return errno == EEXIST ? there(to) : cannot_move(to);
}

Result<void> put_folder(const std::string& files, const std::string& out, bool overwrite) {
  // Renaming replaces an empty folder and no other.
  if (std::rename(files.c_str(), out.c_str()) == 0) return {};
  if (errno != ENOTEMPTY && errno != EEXIST) return cannot_move(out);
  if (!overwrite) return there(out);
  const std::string old = out + ".old-" + std::to_string(::getpid());
  if (std::rename(out.c_str(), old.c_str()) != 0) return cannot_move(out);
  if (std::rename(files.c_str(), out.c_str()) != 0) {
    const Error error = cannot_move(out);
    std::rename(old.c_str(), out.c_str());
    return error;
  }
  std::error_code fault;
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

std::vector<ReadFile> known_files(const std::vector<std::string>& paths) {
  std::vector<ReadFile> known;
  for (const std::string& path : paths) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0) known.push_back({path, found.st_dev, found.st_ino});
  }
  return known;
}

Result<void> check_place(const Place& place, std::size_t files, const std::vector<ReadFile>& read,
                         bool overwrite) {
  std::error_code unknown;
  TRY(not_in_partial(place, read));
  if (place.target == Target::safetensors) {
    if (!fs::exists(fs::symlink_status(place.out, unknown))) return {};
    return check_folder(place.out, read, overwrite);
  }
  std::vector<std::string> paths = others_of_name(place, files);
  for (std::size_t i = 0; i < files; ++i) paths.push_back(place.final_path(i, files));
  for (const std::string& path : paths) {
    if (!fs::exists(fs::symlink_status(path, unknown))) continue;
    TRY(not_read(path, read));
    if (fs::is_directory(path, unknown)) return Error(Fault::invalid, path + ": is a folder");
    if (!overwrite) return there(path);
  }
  return {};
}

Result<void> check_room(const Place& place, std::uint64_t bytes) {
  const std::string folder = fs::path(place.out).parent_path().string();
  struct statvfs facts {};
  if (::statvfs(folder.empty() ? "." : folder.c_str(), &facts) != 0) return {};  // then writing says it
  const std::uint64_t free = std::uint64_t{facts.f_bavail} * facts.f_frsize;
  const std::uint64_t more = bytes - std::min(bytes, bytes_in(place.partial() + "/files"));
  if (more <= free) return {};
  return Error(Fault::exhausted, place.out + ": " + std::to_string(more) +
                                     " bytes are to be written, but only " + std::to_string(free) +
                                     " are free there");
}

Result<void> put_in_place(const Place& place, const std::string& files, std::size_t count, bool overwrite) {
  if (place.target == Target::safetensors) return put_folder(files, place.out, overwrite);
  if (overwrite) {
    // An older set of the same name is no set from here on, so that nobody opens a mixture.
    std::vector<std::string> old = others_of_name(place, count);
    if (count > 1) old.insert(old.begin(), place.final_path(0, count));
    for (const std::string& path : old) {
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) return cannot_move(path);
    }
  }
  for (std::size_t i = count; i-- > 0;)
    TRY(move(files + "/" + place.file_name(i, count), place.final_path(i, count), overwrite));
  return {};
}

}  // namespace manyspan
