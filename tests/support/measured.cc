// Runs a program and writes what it took to a file: seconds on the clock, seconds of the processor, KiB at the peak.
//
//   measured FILE PROGRAM [ARGUMENT...]
//
// The peak that the system keeps of a program begins with the size of the process that started it, so a test, which may
// have grown, starts this small one in between. It ends as the program did.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 125;
  const auto from = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execv(arguments[2], arguments + 2);
    _exit(127);
  }
  int status = 0;
  rusage used = {};
  if (child < 0 || wait4(child, &status, 0, &used) != child) return 125;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
  std::FILE* report = std::fopen(arguments[1], "w");
  if (report == nullptr) return 125;
  std::fprintf(report, "%.6f %.6f %ld\n", took.count(), seconds(used.ru_utime) + seconds(used.ru_stime),
               used.ru_maxrss);
  if (std::fclose(report) != 0) return 125;
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}
