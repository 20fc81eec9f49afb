// Tally — what reading has found, by tensor: bad numbers counted, the first of each kind kept, runs of zeros.
//
// What it says does not depend on which thread came first.
//
// Threads    any
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "container/container.h"
#include "verify/rule.h"

namespace manyspan {

// One kind of fault of one tensor or file.
struct Finding {
  std::string text;        // "FILE: tensor NAME: code 7 at [0, 7] is NaN (0x7f)"
  std::int64_t count = 1;  // of such numbers in the tensor
  bool more = false;       // there are more than that
};

class Tally {
 public:
  // Both live as long as the tally; `container` is null where there are no tensors.
  Tally(const Container* container, const std::vector<Rule>& rules);

  // Looks at a part of whole units, which begins at byte `from` of the tensor.
  void look(std::size_t tensor, std::uint64_t from, Bytes part);

  // Bytes that cannot be read. The first of a file is kept.
  void unreadable(std::size_t file, std::uint64_t from, std::string message);

  // By file and place.
  std::vector<Finding> findings() const;
  // Of tensors that look as if something had never been written.
  std::vector<std::string> warnings() const;

  std::int64_t scales() const { return scales_; }
  std::int64_t values() const { return values_; }  // numbers that are no scales
  std::int64_t bad() const;

 private:
  using Kind = std::pair<std::size_t, std::string>;  // tensor, what is wrong
  struct Met {
    std::uint64_t first;
    std::string shown;
    std::string_view kind;  // "code"
    std::int64_t count;
    bool more = false;
  };

  void meet(std::map<Kind, Met>& met, std::size_t tensor, std::uint64_t first_unit, const BadNumber& bad,
            Bytes part) const;
  void each_bad(std::map<Kind, Met>& met, std::size_t tensor, std::uint64_t first_unit, Bytes part) const;

  const Container* container_;
  const std::vector<Rule>& rules_;
  std::atomic<std::int64_t> scales_{0}, values_{0};
  std::vector<std::atomic<std::uint64_t>> zeros_;  // bytes in parts of nothing else
  mutable std::mutex lock_;
  std::map<Kind, Met> met_;
  std::map<std::size_t, std::pair<std::uint64_t, std::string>> unreadable_;
};

}  // namespace manyspan
