#include "apps/quiet_keys.h"

#include <unistd.h>

#include "apps/terminal.h"

namespace manyspan::app {
namespace {

// A program in the background that changes the terminal is stopped.
bool ours() { return is_terminal(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp(); }

}  // namespace

QuietKeys::QuietKeys() {
  if (!ours() || tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios quiet = before_;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL | ECHOCTL);
  changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &quiet) == 0;
}

QuietKeys::~QuietKeys() {
  if (changed_ && ours()) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

}  // namespace manyspan::app
