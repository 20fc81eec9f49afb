#include <atomic>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/file.h"
#include "base/file_error.h"
#include "base/write_through.h"

namespace manyspan {
namespace {

constexpr mode_t kPermissions = 0777;

// A new file beside the one it will replace; gone again unless it is put in place.
class Draft {
 public:
  // `shown` is the path that messages begin with. The permissions are those of `old`, or, where it is null,
  // those of any new file.
  static Result<Draft> create(const std::string& shown, const std::string& path, const struct stat* old) {
    static std::atomic<unsigned> drafts{0};
    constexpr int kTries = 100;
    for (int i = 0; i < kTries; ++i) {
      std::string name = path + ".draft-" + std::to_string(::getpid()) + "-" + std::to_string(drafts++);
      // Nobody else opens the new text before it is as private as the old.
      const int descriptor =
          ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old == nullptr ? 0666 : 0600);
      if (descriptor < 0 && errno == EEXIST) continue;
      if (descriptor < 0) return file_error(shown, "cannot write", errno);
      Draft draft(shown, path, std::move(name), descriptor);
      if (old != nullptr && ::fchmod(descriptor, old->st_mode & kPermissions) != 0)
        return file_error(shown, "cannot write", errno);
      return draft;
    }
    return file_error(shown, "cannot write", EEXIST);
  }
  Draft(Draft&& other) noexcept
      : shown_(std::move(other.shown_)),
        path_(std::move(other.path_)),
        name_(std::exchange(other.name_, {})),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~Draft() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  Result<void> append(Bytes bytes) { return write_all(shown_, descriptor_, bytes); }

  Result<void> put_in_place() {
    // Before the name changes hands the bytes must be on disk, or a power cut leaves an empty file.
    if (::fsync(descriptor_) != 0) return file_error(shown_, "cannot write", errno);
    if (::close(std::exchange(descriptor_, -1)) != 0) return file_error(shown_, "cannot write", errno);
    if (std::rename(name_.c_str(), path_.c_str()) != 0) return file_error(shown_, "cannot write", errno);
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
  Draft(std::string shown, std::string path, std::string name, int descriptor)
      : shown_(std::move(shown)), path_(std::move(path)), name_(std::move(name)), descriptor_(descriptor) {}

  std::string shown_, path_, name_;
  int descriptor_;
};

// Where the links at `path` end, whether or not something is there.
Result<std::string> end_of_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code fault;
    if (!std::filesystem::is_symlink(at, fault)) return at.string();
    const auto next = std::filesystem::read_symlink(at, fault);
    if (fault) return file_error(path, "cannot write", fault.value());
    at = at.parent_path() / next;  // `next` alone where it begins at the root
  }
  return file_error(path, "cannot write", ELOOP);
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

Result<void> write_file_atomically(const std::string& path, const NextPart& next) {
  if (path.find('\0') != std::string::npos)
    return Error(Fault::invalid, "a file's path has a zero byte in it");
  struct stat old = {}, found = {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return file_error(path, "cannot write", EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return write_through(path, next);
  const std::string target = TRY(end_of_links(path));
  // A link under /proc may lead to a file that no longer has a name.
  if (exists && (::stat(target.c_str(), &found) != 0 || !same_file(old, found)))
    return write_through(path, next);
  Draft draft = TRY(Draft::create(path, target, exists ? &old : nullptr));
  while (true) {
    const Bytes part = TRY(next());
    if (part.empty()) return draft.put_in_place();
    TRY(draft.append(part));
  }
}

Result<void> write_file_atomically(const std::string& path, std::span<const Bytes> parts) {
  return write_file_atomically(path, [&, at = std::size_t{0}]() mutable -> Result<Bytes> {
    while (at < parts.size() && parts[at].empty()) ++at;
    return at < parts.size() ? parts[at++] : Bytes();
  });
}

Result<void> write_file_atomically(const std::string& path, Bytes bytes) {
  return write_file_atomically(path, std::span(&bytes, 1));
}

}  // namespace manyspan
