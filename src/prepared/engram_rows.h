// engram_rows — the n-gram tables where the checkpoint has them: rows are gathered, never loaded whole.
//
// Shapes     packed [tokens, columns · (dim + dim/32)] u8: each row's codes, then its scales
// Owns       nothing: reads through the checkpoint that `weights` borrows from
// Errors     corrupt: a row that cannot be read, or holds a NaN code or scale
// Threads    gather() from one thread at a time
// Spec       model.md 8.5
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/workers.h"
#include "spec/blueprint.h"
#include "tensor/view.h"
#include "weights/weights.h"

namespace manyspan {

class EngramTables {
 public:
  EngramTables(const Weights& weights, const Blueprint& blueprint) : weights_(weights) {
    for (const std::int32_t layer : blueprint.engram.layers) {
      tables_.push_back(&weights.at(Role::engram_table, LayerId{layer}));
    }
  }

  // Whether every table is stored in the one way that rows are gathered from. unsupported: it is not
  Result<void> check() const;

  // Requires   check() to hold
  // `rows`: [tokens · columns] row numbers of the table of the `layer`-th Engram layer, each below its row count.
  // Shared out among `workers`, since most of it is waiting for memory.
  Result<void> gather(std::size_t layer, std::span<const std::int64_t> rows, Rows<std::uint8_t> packed,
                      Workers& workers) const;

 private:
  Result<void> gather_token(const MatrixSource& table, std::span<const std::int64_t> rows,
                            std::uint8_t* to) const;

  const Weights& weights_;
  std::vector<const MatrixSource*> tables_;  // of each Engram layer
};

}  // namespace manyspan
