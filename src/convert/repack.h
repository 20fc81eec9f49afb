// repack — 4-bit codes between the rows of safetensors and the blocks of GGUF, bit for bit.
//
// Shapes     rows: two columns a byte, the even one low, scales apart. Blocks: the scales first, then byte i of a group of
//            2n columns holds column i and column i + n
// Requires   whole blocks: 32 columns of MXFP4, 64 of NVFP4
// Spec       quant_formats.md 3.1, 5
#pragma once

#include <cstddef>
#include <cstdint>

namespace manyspan {

// `blocks` of them, one after the other: rows without padding are one run.
void mxfp4_to_blocks(const std::byte* codes, const std::byte* scales, std::int64_t blocks, std::byte* out);
void mxfp4_codes_of(const std::byte* from, std::int64_t blocks, std::byte* out);
void mxfp4_scales_of(const std::byte* from, std::int64_t blocks, std::byte* out);

// Scales are E4M3; their signs must be clear.
void nvfp4_to_blocks(const std::byte* codes, const std::byte* scales, std::int64_t blocks, std::byte* out);
void nvfp4_codes_of(const std::byte* from, std::int64_t blocks, std::byte* out);
void nvfp4_scales_of(const std::byte* from, std::int64_t blocks, std::byte* out);

}  // namespace manyspan
