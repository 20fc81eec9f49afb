// interrupt — Ctrl-C, as a Cancel that long work looks at.
#pragma once

#include "base/cancel.h"

namespace manyspan::app {

// The next Ctrl-C requests `cancel`, and one after that ends the process. A blocking read returns at once.
// Requires   cancel lives until the process ends or another takes its place
void watch_interrupts(Cancel& cancel);

}  // namespace manyspan::app
