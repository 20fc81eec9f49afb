// Pipe — both ends of a pipe, which a program that is started does not inherit. Whoever has one closes its ends.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace manyspan::tests {

struct Pipe {
  int read, write;
  Pipe() {
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0, "no pipe left");
    read = ends[0];
    write = ends[1];
  }
};

}  // namespace manyspan::tests
