// OwnInterrupt — while it lives, Ctrl-C is this piece of work's and not the program's.
#pragma once

#include "apps/interrupt.h"
#include "base/cancel.h"

namespace manyspan::app {

class OwnInterrupt {
 public:
  // Gives Ctrl-C back to `program` at its end.
  explicit OwnInterrupt(Cancel& program) : program_(program) { watch_interrupts(own_); }
  ~OwnInterrupt() { watch_interrupts(program_); }
  OwnInterrupt(const OwnInterrupt&) = delete;
  OwnInterrupt& operator=(const OwnInterrupt&) = delete;

  Cancel& cancel() { return own_; }

 private:
  Cancel& program_;
  Cancel own_;
};

}  // namespace manyspan::app
