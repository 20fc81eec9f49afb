#include "tests/cli/program.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "base/check.h"
#include "tests/support/pipe.h"

namespace manyspan::tests {
namespace {

pid_t start(const std::vector<std::string>& arguments, const Pipe& in, const Pipe& out, const Pipe& err,
            const char* program = MANYSPAN_PROGRAM) {
  std::vector<char*> argv = {const_cast<char*>(program)};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  CHECK(child >= 0, "no process left");
  if (child == 0) {
    dup2(in.read, STDIN_FILENO);
    dup2(out.write, STDOUT_FILENO);
    dup2(err.write, STDERR_FILENO);
    execv(program, argv.data());
    _exit(127);
  }
  close(in.read);
  close(out.write);
  close(err.write);
  return child;
}

// Feeds and reads all three ends at once, so that no pipe fills up and blocks the others.
Ran finish(pid_t child, int in, int out, int err, const std::string& input) {
  Ran ran{};
  std::signal(SIGPIPE, SIG_IGN);
  if (in >= 0) fcntl(in, F_SETFL, O_NONBLOCK);
  std::size_t sent = 0;
  while (out >= 0 || err >= 0) {
    if (in >= 0 && sent == input.size()) close(std::exchange(in, -1));
    pollfd waits[] = {{in, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}};
    poll(waits, 3, -1);
    if (waits[0].revents != 0) {
      const ssize_t put = write(in, input.data() + sent, input.size() - sent);
      if (put > 0) sent += static_cast<std::size_t>(put);
      if (put < 0 && errno != EAGAIN) close(std::exchange(in, -1));
    }
    char block[65536];
    for (int* end : {&out, &err}) {
      if (*end < 0 || waits[end == &out ? 1 : 2].revents == 0) continue;
      const ssize_t got = read(*end, block, sizeof block);
      if (got > 0) (end == &out ? ran.out : ran.err).append(block, static_cast<std::size_t>(got));
      if (got <= 0) close(std::exchange(*end, -1));
    }
  }
  if (in >= 0) close(in);
  int status = 0;
  waitpid(child, &status, 0);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ran;
}

}  // namespace

Ran run(const std::vector<std::string>& arguments, const std::string& input) {
  Pipe in, out, err;
  const pid_t child = start(arguments, in, out, err);
  return finish(child, in.write, out.read, err.read, input);
}

Ran run_other(const std::string& program, const std::vector<std::string>& arguments,
              const std::string& input) {
  Pipe in, out, err;
  const pid_t child = start(arguments, in, out, err, program.c_str());
  return finish(child, in.write, out.read, err.read, input);
}

Ran run_shell(const std::string& command, const std::string& input) {
  Pipe in, out, err;
  const pid_t child = start({"-c", command, MANYSPAN_PROGRAM}, in, out, err, "/bin/sh");
  return finish(child, in.write, out.read, err.read, input);
}

Ran run_unread(const std::vector<std::string>& arguments, const std::string& input) {
  Pipe in, out, err;
  close(out.read);
  const pid_t child = start(arguments, in, out, err);
  return finish(child, in.write, -1, err.read, input);
}

Ran run_interrupted(const std::vector<std::string>& arguments) {
  Pipe in, out, err;
  const pid_t child = start(arguments, in, out, err);
  // The program reads once it is ready for Ctrl-C: when the pipe is empty again, it is.
  CHECK(write(in.write, "a", 1) == 1, "the pipe is full");
  int unread = 1;
  while (unread > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    CHECK(ioctl(in.write, FIONREAD, &unread) == 0, "a pipe tells how much it holds");
  }
  kill(child, SIGINT);
  const Ran ran = finish(child, -1, out.read, err.read, "");
  close(in.write);
  return ran;
}

Ran run_interrupted_at_output(const std::vector<std::string>& arguments, const std::string& input,
                              int times) {
  Pipe in, out, err;
  const pid_t child = start(arguments, in, out, err);
  CHECK(write(in.write, input.data(), input.size()) == static_cast<ssize_t>(input.size()),
        "the pipe is full");
  pollfd first{out.read, POLLIN, 0};
  poll(&first, 1, -1);
  for (int i = 0; i < times; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    kill(child, SIGINT);
  }
  return finish(child, in.write, out.read, err.read, "");
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "manyspan-test-XXXXXX").string();
  CHECK(mkdtemp(name.data()) != nullptr, "the folder for temporary files can't be written");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::file(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace manyspan::tests
