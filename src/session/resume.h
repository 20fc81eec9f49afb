// resume — from where tokens must run again, so that a session holds a shorter length exactly.
//
// Window keys that were given back can only be made again by running their tokens. Layer l's input at a
// position depends on the keys of the window - 1 positions before it in every layer below, and on kept rows;
// so a replay that begins at s with nothing in its window is exact at layer l from s + l·(window - 1) on.
//
// Threads    pure functions
// Spec       model.md 7; interfaces.md A7; docs/cache-and-pages.md
#pragma once

#include <cstdint>
#include <vector>

#include "model/cache.h"
#include "spec/blueprint.h"

namespace manyspan {

// What a session has besides the rows of its sources, which it keeps from the first.
struct Held {
  std::int64_t window_from = 0;  // window keys of all layers, from this position to the session's end
  std::int64_t tail_from = 0;    // the compressors' inputs, likewise
};

struct Resume {
  std::int64_t from = 0;  // first token to run again; the wanted length: none is
  bool over_rows =
      false;  // the window starts empty and kept rows are read: a replay. Else all that a token at
              // `from` needs is held, or `from` is 0
};

Resume resume_at(const Held& held, std::int64_t length, const Blueprint& blueprint);

// Positions at which a replay from `from` must begin a new step, ascending: a step that reads rows which it
// has itself completed must have completed them from exact inputs.
std::vector<std::int64_t> replay_cuts(std::int64_t from, const Blueprint& blueprint);

// What is exact in every layer after a replay from `from`.
std::int64_t exact_after_replay(std::int64_t from, const Blueprint& blueprint);

}  // namespace manyspan
