#include "apps/streams.h"

#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include "apps/status.h"

namespace manyspan::app {
Result<std::string> read_input(const Cancel& cancel, std::size_t limit) {
  std::string text;
  char block[65536];
  while (!cancel.requested()) {
    const ssize_t got = read(STDIN_FILENO, block, sizeof block);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      pollfd wait{STDIN_FILENO, POLLIN, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (got < 0) return Error(Fault::not_found, fmt::format("standard input: {}", std::strerror(errno)));
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return Error(Fault::corrupt,
                   fmt::format("standard input: longer than {} bytes, the most that is read", limit));
    }
  }
  return text;
}

Result<void> write_output(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) {
      pollfd wait{STDOUT_FILENO, POLLOUT, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (put < 0 && errno == EPIPE) return closed_output();
    if (put < 0) return Error(Fault::exhausted, fmt::format("standard output: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace manyspan::app
