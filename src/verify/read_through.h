// read_through — reads files on several threads: looks at every number of their tensors and computes their hashes.
//
// Each byte is read once. A thread takes the next part, reads it, looks at it and, where the file's hash is wanted, waits
// for its turn to add it. Only the parts that threads hold are in memory: 4 MiB for each.
//
// Errors     invalid when cancelled; exhausted: no memory, no thread. What is wrong with a file is a finding
// Threads    from one; `tick` is called on it, about every 50 ms
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "container/container.h"
#include "verify/tally.h"
#include "weights/weights.h"

namespace manyspan {

struct ReadOptions {
  int threads = 1;
  double sample =
      1;  // in (0, 1]: the share of codes that is read; scales always are. 1 where hashes are wanted
  const Cancel* cancel = nullptr;
  std::function<void(std::int64_t done_bytes, std::int64_t all_bytes)> tick{};
};

struct ReadThrough {
  std::vector<Finding> findings;
  std::vector<std::string> warnings;
  std::vector<std::string>
      hashes;            // of the files asked for, in their order; empty where one could not be read
  std::int64_t bad = 0;  // numbers that findings count
  std::int64_t scales = 0, values = 0;  // numbers looked at
  std::int64_t bytes = 0;               // read
  double seconds = 0;
  int threads = 0;
};

// `container`, `weights`: null where there are none. `to_hash`: paths, of the container's files or others.
Result<ReadThrough> read_through(const Container* container, const Weights* weights,
                                 const std::vector<std::string>& to_hash, const ReadOptions& options);

}  // namespace manyspan
