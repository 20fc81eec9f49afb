// interrupt — Ctrl-C, as a Cancel that long work looks at.
#pragma once

#include "base/cancel.h"

namespace manyspan::app {

// The next Ctrl-C requests `cancel`, and a blocking read returns at once. One more ends the process with status 130,
// unless outlive_interrupts() was called. Returns what was watched before, or null.
// Requires   cancel lives until another takes its place
Cancel* watch_interrupts(Cancel& cancel);

// From now on no Ctrl-C ends the process by itself: in a conversation it means the answer, however often it comes.
void outlive_interrupts();

}  // namespace manyspan::app
