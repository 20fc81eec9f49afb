#include "apps/streams.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include "apps/status.h"

namespace manyspan::app {
namespace {

Result<std::string> read_all(int file, std::size_t limit, const std::string& place, const Cancel* cancel) {
  std::string text;
  char block[65536];
  while (cancel == nullptr || !cancel->requested()) {
    const ssize_t got = read(file, block, sizeof block);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      pollfd wait{file, POLLIN, 0};
      poll(&wait, 1, -1);
      continue;
    }
    if (got < 0) return Error(Fault::not_found, fmt::format("{}: {}", place, std::strerror(errno)));
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > limit) {
      return Error(Fault::corrupt,
                   fmt::format("{}: longer than {} bytes, the most that is read", place, limit));
    }
  }
  return text;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Error(Fault::not_found, fmt::format("{}: {}", path, std::strerror(errno)));
  Result<std::string> text = read_all(file, limit, path, nullptr);
  close(file);
  return text;
}

Result<std::string> read_input(const Cancel& cancel, std::size_t limit) {
  return read_all(STDIN_FILENO, limit, "standard input", &cancel);
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
