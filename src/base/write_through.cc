#include "base/write_through.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_error.h"

namespace manyspan {
namespace {

// Keeps a pipe whose reader went away from ending the process: the write fails all the same.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    if (!was_pending_) {
      while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

Result<void> write_open(const std::string& path, int descriptor, const NextPart& next) {
  struct stat facts = {};
  if (::fstat(descriptor, &facts) != 0) return file_error(path, "cannot write", errno);
  if (S_ISBLK(facts.st_mode)) return Error(Fault::not_found, path + ": a block device, not a file");
  if (S_ISREG(facts.st_mode) && ::ftruncate(descriptor, 0) != 0)
    return file_error(path, "cannot write", errno);
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) != 0)
    return file_error(path, "cannot write", errno);
  while (true) {
    const Bytes part = TRY(next());
    if (part.empty()) return {};
    TRY(write_all(path, descriptor, part));
  }
}

}  // namespace

Result<void> write_all(const std::string& path, int descriptor, Bytes bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_error(path, "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return {};
}

Result<void> write_through(const std::string& path, const NextPart& next) {
  struct stat facts = {};
  if (::stat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode))
    return Error(Fault::not_found, path + ": a socket, not a file");
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENXIO && S_ISFIFO(facts.st_mode))
    return Error(Fault::not_found, path + ": cannot write: nobody reads this pipe");
  if (descriptor < 0) return file_error(path, "cannot write", errno);
  const NoPipeSignal quiet;
  auto written = write_open(path, descriptor, next);
  if (::close(descriptor) != 0 && written.ok()) return file_error(path, "cannot write", errno);
  return written;
}

}  // namespace manyspan
