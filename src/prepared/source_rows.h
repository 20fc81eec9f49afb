// source_rows — rows of a checkpoint's matrix, read from its file into memory of ours and checked on the way.
//
// Errors     corrupt: the file has become shorter, cannot be read, or holds a number that is not finite · invalid
//            when cancelled
// Threads    pure; several reads at once
// Cost       bytes of the rows; one pass over them beside reading
#pragma once

#include <cstdint>

#include "base/cancel.h"
#include "base/result.h"
#include "tensor/weight.h"
#include "weights/weights.h"

namespace manyspan {

struct SourceRows {
  const MatrixSource* source;
  std::int64_t first, count;

  // Of the rows and of their scales in the file.
  std::int64_t code_bytes() const;
  std::int64_t scale_bytes() const;
  std::int64_t bytes() const { return code_bytes() + scale_bytes(); }

  // Of what read() fills: with the factor of NVFP4, which a Weight has for each row.
  std::int64_t room_bytes() const;

  // Whether no scale belongs to rows inside and outside.
  bool whole_scales() const;

  // The rows as a plain weight without bytes: what arranged() takes.
  Weight shape() const;

  // The same over `room`, which has room_bytes() bytes and is filled. Scales that came as F32 are E8M0 there.
  Result<Weight> read(const Weights& weights, std::byte* room, const Cancel* cancel) const;

  // A wish about the rows' bytes in the file.
  void advise(const Weights& weights, Access access) const;
};

// All rows of a matrix.
inline SourceRows all_rows(const MatrixSource& m) { return {&m, 0, m.rows}; }

}  // namespace manyspan
