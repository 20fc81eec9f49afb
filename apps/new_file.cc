#include "apps/new_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace manyspan::app {
namespace {

Error reason(Fault fault, const std::string& path) {
  return Error(fault, fmt::format("{}: {}", path, std::strerror(errno)));
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  struct stat before {};
  if (stat(path.c_str(), &before) == 0 && !S_ISREG(before.st_mode)) {
    const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) return reason(Fault::not_found, path);
    return NewFile(file, path, "");
  }
  // A link stays a link: what it points to is replaced.
  std::error_code unresolved;
  const std::string target = std::filesystem::weakly_canonical(path, unresolved).string();
  const std::string place = unresolved ? path : target;
  std::string unfinished = place + ".XXXXXX";
  const int file = mkostemp(unfinished.data(), O_CLOEXEC);
  if (file < 0) return reason(Fault::not_found, path);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  return NewFile(file, place, std::move(unfinished));
}

NewFile::NewFile(NewFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      path_(std::move(other.path_)),
      unfinished_(std::exchange(other.unfinished_, {})) {}

NewFile::~NewFile() {
  if (file_ >= 0) close(file_);
  if (!unfinished_.empty()) unlink(unfinished_.c_str());
}

Result<void> NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return reason(Fault::exhausted, path_);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> NewFile::commit() {
  if (!unfinished_.empty() && fsync(file_) != 0) return reason(Fault::exhausted, path_);
  if (close(std::exchange(file_, -1)) != 0) return reason(Fault::exhausted, path_);
  if (!unfinished_.empty()) {
    if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) return reason(Fault::not_found, path_);
    unfinished_.clear();
  }
  return {};
}

}  // namespace manyspan::app
