// QuietKeys — while it lives, keys that are pressed, Ctrl-C too, are not echoed into what is being shown.
//
// What is typed stays for the next read. Nothing changes where standard input is no terminal, or is another's.
#pragma once

#include <termios.h>

namespace manyspan::app {

class QuietKeys {
 public:
  QuietKeys();
  ~QuietKeys();
  QuietKeys(const QuietKeys&) = delete;
  QuietKeys& operator=(const QuietKeys&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace manyspan::app
