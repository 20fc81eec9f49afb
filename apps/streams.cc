#include "apps/streams.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include "apps/status.h"

namespace manyspan::app {

std::string stream_error(const char* stream, int system_error) {
  return fmt::format("{}: {}", stream, system_error == EBADF ? "it is closed" : std::strerror(system_error));
}

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
    if (got < 0) return Error(Fault::not_found, stream_error("standard input", errno));
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
    if (put < 0) return Error(Fault::exhausted, stream_error("standard output", errno));
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

void write_error(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stderr);
  std::fflush(stderr);
}

void reserve_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    // The lowest free descriptor is this one. Opened the wrong way round, so that using it still fails.
    const int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened < 0) static_cast<void>(open("/", O_RDONLY | O_DIRECTORY));
  }
}

}  // namespace manyspan::app
