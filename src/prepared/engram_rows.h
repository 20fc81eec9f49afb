// engram_rows — the n-gram tables where the checkpoint has them: rows are gathered, never loaded whole.
//
// Shapes     packed [tokens, columns · lone_row_bytes()] u8: each row as tensor/weight.h's lone_row, in the encoding
//            of its table
// Owns       nothing: reads through the checkpoint that `weights` borrows from
// Errors     corrupt: a row that cannot be read, or holds a number that is not finite
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

  // Of a row of each Engram layer's table.
  std::vector<std::int64_t> row_bytes() const;

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
