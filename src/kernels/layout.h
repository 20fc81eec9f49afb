// layout — rewrites a matrix into the tiling that a kind of kernel reads. Lossless.
//
// Source     plain: codes, or rows of blocks, and scales as tensor/weight.h says, in any encoding. Those that hold
//            the same numbers as another are turned into it on the way (kernel_encoding), so that a kernel reads
//            fewer: signs of zero may change, nothing else does
// Threads    pure; different destinations may be filled at once
// Spec       interfaces.md A4; quant_formats.md 5
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/weight.h"

namespace manyspan::kernels {

// What a matrix of encoding `from` is called once it lies in `tiling`. Scales of 128x128 that are powers of two are
// repeated onto the 32x32 grid. In tiles, blocks whose codes and scales are those of mxfp4 or mxfp8 become these, and
// nvfp4's planes become nvfp4_ggml blocks; at most 3 % more bytes.
Encoding kernel_encoding(Encoding from, Tiling tiling);

// What `from` (plain) becomes: same logical matrix, codes and scales null, encoding one that kernels read.
Weight arranged(const Weight& from, Tiling tiling, RowOrder order);

// Bytes of the destination's two planes.
std::int64_t arranged_code_bytes(const Weight& to);
std::int64_t arranged_scale_bytes(const Weight& to);

// Fills codes and scales (whole planes, padding included) of `to`, which arranged() described, from `from`: from its
// rows [first, first + to.rows), where what arranged() was given had only these. Requires `first` to begin a scale
// block, where scales are shared by rows.
void arrange(const Weight& from, const Weight& to, std::byte* codes, std::byte* scales,
             std::int64_t first = 0);

// The same for two halves (w1, w3) stacked into one matrix of twice the rows: natural order stacks, paired8
// interleaves. Requires equal shapes and encodings; rows a multiple of 32 (of 8 where each row has its own scales or
// none, with paired8 or plain). Plain halves that cut through blocks of 128 rows with F32 scales are stacked as F32.
Weight arranged_pair(const Weight& first, Tiling tiling, RowOrder order);
void arrange_pair(const Weight& first, const Weight& second, const Weight& to, std::byte* codes,
                  std::byte* scales);

}  // namespace manyspan::kernels
