// number_checks — whether a matrix holds only numbers that the engine computes with, part by part or read through.
//
// Errors     corrupt: a NaN, an infinity, or a scale that makes a code's largest number so · unsupported: gains that
//            would have to be rounded. Messages name file, tensor and the number's place in it
// Spec       quant_formats.md 1 "strict mode"
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "container/container.h"
#include "spec/slots.h"
#include "weights/weights.h"

namespace manyspan {

// `part`: the bytes of the plane's tensor from byte `from` on; both ends are those of units (matrix_scan.h).
Result<void> check_numbers(const Container& container, const MatrixSource& matrix, Plane plane,
                           std::uint64_t from, Bytes part);

// All of the matrix, read in blocks.
Result<void> check_numbers(const Container& container, const MatrixSource& matrix);

// Whether what the slot wants narrower than it is stored loses nothing. Reads only where there is something to lose.
Result<void> check_exact(const Container& container, const Slot& slot, const MatrixSource& matrix);

// Whether the scales, which are F32, are powers of two all.
Result<bool> even_scales(const Container& container, const MatrixSource& matrix);

}  // namespace manyspan
