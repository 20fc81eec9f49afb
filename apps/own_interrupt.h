// OwnInterrupt — while it lives, Ctrl-C is this piece of work's and not the program's.
//
// Requires   something was watched before; of two the younger ends first
#pragma once

#include "apps/interrupt.h"
#include "base/cancel.h"

namespace manyspan::app {

class OwnInterrupt {
 public:
  OwnInterrupt() : before_(*watch_interrupts(own_)) {}
  ~OwnInterrupt() { watch_interrupts(before_); }
  OwnInterrupt(const OwnInterrupt&) = delete;
  OwnInterrupt& operator=(const OwnInterrupt&) = delete;

  Cancel& cancel() { return own_; }

 private:
  Cancel own_;  // first: it is watched from the start
  Cancel& before_;
};

}  // namespace manyspan::app
