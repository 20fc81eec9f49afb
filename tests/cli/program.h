// program — runs the program as a user would, and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace manyspan::tests {

struct Ran {
  int status;  // the exit status, or -N if signal N ended it
  std::string out, err;
};

// Standard input is `input` and then its end.
Ran run(const std::vector<std::string>& arguments, const std::string& input = "");

// The same through the shell, which knows the program as "$0": for redirections.
Ran run_shell(const std::string& command, const std::string& input = "");

// Another program of this build.
Ran run_other(const std::string& program, const std::vector<std::string>& arguments,
              const std::string& input = "");

// The same with standard output closed by its reader before the program starts.
Ran run_unread(const std::vector<std::string>& arguments, const std::string& input = "");

// The same with an input that never ends, and a Ctrl-C once the program waits for it.
Ran run_interrupted(const std::vector<std::string>& arguments);

// The same with a Ctrl-C as soon as something is on standard output, and maybe more right after it. The input stays
// open until then.
Ran run_interrupted_at_output(const std::vector<std::string>& arguments, const std::string& input = "",
                              int times = 1);

// A fresh folder, removed with all it holds when the test ends.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Writes a file into it and returns its path.
  std::string file(const std::string& name, const std::string& text) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace manyspan::tests
