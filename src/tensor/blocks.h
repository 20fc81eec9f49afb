// blocks — what the bytes of one block mean, for every encoding of rows of blocks: the definition that all
// kernels are held to.
//
// Numerics   F32, one rounding for each operation, in the order that the formula is written; nothing is fused. A
//            scale or code that is NaN, or a scale that is not finite, comes out as such, never as a silent number
// Threads    pure
// Spec       quant_formats.md 3.1 and 6
#pragma once

#include <cstddef>

#include "tensor/encoding.h"

namespace manyspan {

// block_cols(e) numbers from block_bytes(e) bytes. Requires is_blocks(e). The factor of nvfp4_ggml is the caller's.
void decode_block(Encoding e, const std::byte* block, float* out);

}  // namespace manyspan
