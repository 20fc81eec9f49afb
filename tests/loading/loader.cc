#include "tests/loading/loader.h"

#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "tests/support/pipe.h"

namespace manyspan::tests {
namespace {

constexpr uid_t kNobody = 65534;

using Clock = std::chrono::steady_clock;

// Between fork and exec: system calls only.
[[noreturn]] void become(const Loading& wish, char* const* argv, int program, int out, int err) {
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  const auto most = static_cast<rlim_t>(wish.most_private_bytes);
  const rlimit limit{most, most};
  if (wish.most_private_bytes > 0 && setrlimit(RLIMIT_DATA, &limit) != 0) _exit(126);
  if (wish.as_nobody && geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(126);
  fexecve(program, argv, environ);  // opened before: the folders above it may be closed to nobody
  _exit(127);
}

pid_t start(const Loading& wish, const Pipe& out, const Pipe& err) {
  static const int program = open(MANYSPAN_PROGRAM, O_RDONLY | O_CLOEXEC);
  CHECK(program >= 0, "the program is not there");
  std::vector<char*> argv = {const_cast<char*>(MANYSPAN_PROGRAM)};
  for (const std::string& argument : wish.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0, "no process left");
  if (child == 0) become(wish, argv.data(), program, out.write, err.write);
  close(out.write);
  close(err.write);
  return child;
}

}  // namespace

Loaded load(const Loading& wish) {
  Pipe out, err;
  const pid_t child = start(wish, out, err);
  Loaded loaded{};
  std::optional<Clock::time_point> since;
  while (out.read >= 0 || err.read >= 0) {
    pollfd waits[] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
    poll(waits, 2, -1);
    char block[65536];
    for (int i = 0; i < 2; ++i) {
      if (waits[i].revents == 0) continue;
      int& end = i == 0 ? out.read : err.read;
      const ssize_t got = read(end, block, sizeof block);
      if (got > 0) (i == 0 ? loaded.out : loaded.err).append(block, static_cast<std::size_t>(got));
      if (got <= 0) close(std::exchange(end, -1));
    }
    if (wish.then && !since && loaded.err.find(wish.when) != std::string::npos) {
      since = Clock::now();
      wish.then(child);
    }
  }
  int status = 0;
  rusage used{};
  CHECK(wait4(child, &status, 0, &used) == child, "the program that was started");
  if (since) loaded.seconds_after_then = std::chrono::duration<double>(Clock::now() - *since).count();
  loaded.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  loaded.peak_bytes = std::int64_t{used.ru_maxrss} * 1024;
  return loaded;
}

}  // namespace manyspan::tests
