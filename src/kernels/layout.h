// layout — rewrites a matrix into the tiling that a kind of kernel reads. Lossless.
//
// Source     plain, row-major codes and scales as the encoding says; fp8_block128 (E8M0 scales) and f16 are
//            taken too: 128x128 scales are repeated onto the 32x32 grid, f16 becomes f32
// Threads    pure; different destinations may be filled at once
// Spec       interfaces.md A4
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/weight.h"

namespace manyspan::kernels {

// What `from` (plain) becomes: same logical matrix, codes and scales null, encoding one that kernels read.
Weight arranged(const Weight& from, Tiling tiling, RowOrder order);

// Bytes of the destination's two planes.
std::int64_t arranged_code_bytes(const Weight& to);
std::int64_t arranged_scale_bytes(const Weight& to);

// Fills codes and scales (whole planes, padding included) of `to`, which arranged() described, from `from`.
void arrange(const Weight& from, const Weight& to, std::byte* codes, std::byte* scales);

// The same for two halves (w1, w3) stacked into one matrix of twice the rows: natural order stacks, paired8
// interleaves. Requires equal shapes and encodings; rows a multiple of 32 (of 8 with paired8 and row scales).
Weight arranged_pair(const Weight& first, Tiling tiling, RowOrder order);
void arrange_pair(const Weight& first, const Weight& second, const Weight& to, std::byte* codes,
                  std::byte* scales);

}  // namespace manyspan::kernels
