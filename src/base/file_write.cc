#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/file_error.h"

namespace manyspan {
namespace {

// A new file beside the one it will replace; gone again unless it is put in place.
class Draft {
 public:
  static Result<Draft> create(const std::string& path) {
    static std::atomic<unsigned> drafts{0};
    constexpr int kTries = 100;
    for (int i = 0; i < kTries; ++i) {
      std::string name = path + ".draft-" + std::to_string(::getpid()) + "-" + std::to_string(drafts++);
      const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0) return Draft(path, std::move(name), descriptor);
      if (errno != EEXIST) return file_error(path, "cannot write", errno);
    }
    return file_error(path, "cannot write", EEXIST);
  }
  Draft(Draft&& other) noexcept
      : path_(std::move(other.path_)),
        name_(std::exchange(other.name_, {})),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~Draft() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  Result<void> append(Bytes bytes) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return file_error(path_, "cannot write", errno);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
  }

  Result<void> put_in_place() {
    // Before the name changes hands the bytes must be on disk, or a power cut leaves an empty file.
    if (::fsync(descriptor_) != 0) return file_error(path_, "cannot write", errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) return file_error(path_, "cannot write", errno);
    if (std::rename(name_.c_str(), path_.c_str()) != 0) return file_error(path_, "cannot write", errno);
    name_.clear();
    const std::string directory = std::filesystem::path(path_).parent_path().string();
    const int opened =
        ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (opened >= 0) {
      ::fsync(opened);  // some file systems cannot; the file itself is whole either way
      ::close(opened);
    }
    return {};
  }

 private:
  Draft(std::string path, std::string name, int descriptor)
      : path_(std::move(path)), name_(std::move(name)), descriptor_(descriptor) {}

  std::string path_, name_;
  int descriptor_;
};

}  // namespace

Result<void> write_file_atomically(const std::string& path, std::span<const Bytes> parts) {
  if (path.find('\0') != std::string::npos)
    return Error(Fault::invalid, "a file's path has a zero byte in it");
  Draft draft = TRY(Draft::create(path));
  for (const Bytes part : parts) TRY(draft.append(part));
  return draft.put_in_place();
}

Result<void> write_file_atomically(const std::string& path, Bytes bytes) {
  return write_file_atomically(path, std::span(&bytes, 1));
}

}  // namespace manyspan
