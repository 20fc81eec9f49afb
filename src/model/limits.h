// Limits — what the caller promises never to exceed, so that everything can be sized once.
#pragma once

#include <cstdint>

namespace manyspan {

struct Limits {
  std::int32_t step_rows;     // rows of one step, prompts and decodes together
  std::int32_t sampled_rows;  // of them, rows whose logits are wanted
  std::int32_t sessions;      // open at once: slots of every table
  std::int32_t context;       // tokens of one session
  std::int32_t flights = 1;   // steps that may be under way at once
  // Tokens by which a session can be shortened without running any again: their window pages are kept longer.
  std::int32_t spare_window = 64;
};

}  // namespace manyspan
