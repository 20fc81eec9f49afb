#include "base/file.h"

#include <algorithm>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/file_error.h"

namespace manyspan {

Result<File> File::open(const std::string& path) {
  // The path of a C call ends at a zero byte, so another file than the one named would be opened.
  if (path.find('\0') != std::string::npos)
    return Error(Fault::invalid, "a file's path has a zero byte in it");
  // Without O_NONBLOCK opening a named pipe would wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return file_error(path, "", errno);
  File file(path, descriptor, 0);
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) return file_error(path, "cannot look at it", errno);
  if (!S_ISREG(facts.st_mode)) {
    return Error(Fault::not_found,
                 path + (S_ISDIR(facts.st_mode) ? ": a directory, not a file" : ": not a regular file"));
  }
  file.size_ = static_cast<std::uint64_t>(facts.st_size);
  return file;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

Error File::too_short(std::uint64_t offset, std::uint64_t bytes) const {
  struct stat facts = {};
  const bool known = ::fstat(descriptor_, &facts) == 0;
  const std::uint64_t now = known ? static_cast<std::uint64_t>(facts.st_size) : size_;
  std::string what = path_ + ": " + std::to_string(bytes) + " bytes wanted at byte " +
                     std::to_string(offset) + ", but the file ends at " + std::to_string(now);
  if (now != size_) what += "; it had " + std::to_string(size_) + " bytes when it was opened";
  return Error(Fault::corrupt, what);
}

Result<void> File::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) return too_short(offset, out.size());
  constexpr std::size_t kMostAtOnce = std::size_t{1}
                                      << 30;  // the system call's own limit is just under 2 GiB
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t count = std::min(out.size() - done, kMostAtOnce);
    const ssize_t got = ::pread(descriptor_, out.data() + done, count, static_cast<off_t>(offset + done));
    if (got == 0) return too_short(offset, out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path_, "cannot read", errno);
    done += static_cast<std::size_t>(got);
  }
  return {};
}

void File::advise(std::uint64_t offset, std::uint64_t bytes, Access access) const {
  if (bytes == 0) return;  // to the system, all that follows
  const int advice = access == Access::in_order    ? POSIX_FADV_SEQUENTIAL
                     : access == Access::at_random ? POSIX_FADV_RANDOM
                     : access == Access::soon      ? POSIX_FADV_WILLNEED
                                                   : POSIX_FADV_DONTNEED;
  ::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), advice);
}

Result<Mapping> File::map() const {
  if (size_ == 0) return Mapping();
  void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (at == MAP_FAILED) return file_error(path_, "cannot map " + std::to_string(size_) + " bytes", errno);
  return Mapping(Bytes(static_cast<const std::byte*>(at), size_));
}

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes) {
  const File file = TRY(File::open(path));
  if (file.size() > most_bytes) {
    return Error(Fault::invalid, path + ": " + std::to_string(file.size()) + " bytes, where at most " +
                                     std::to_string(most_bytes) + " are read");
  }
  try {
    std::string text(file.size(), '\0');
    TRY(file.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
    return text;
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, path + ": no memory for its " + std::to_string(file.size()) + " bytes");
  }
}

}  // namespace manyspan
