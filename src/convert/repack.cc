#include "convert/repack.h"

#include <cstring>

namespace manyspan {
namespace {

constexpr std::int64_t kMxfp4Block = 17, kMxfp4Codes = 16, kNvfp4Block = 36, kNvfp4Scales = 4,
                       kNvfp4Codes = 8;

unsigned at(const std::byte* bytes, int i) { return std::to_integer<unsigned>(bytes[i]); }
// Column c of codes in the order of rows.
unsigned column(const std::byte* codes, int c) { return at(codes, c / 2) >> (4 * (c % 2)) & 15u; }

// A group of 2·half columns: as rows have it to as blocks do, and back.
void to_halves(const std::byte* codes, int half, std::byte* out) {
  for (int i = 0; i < half; ++i) out[i] = std::byte(column(codes, i) | column(codes, i + half) << 4);
}
void to_neighbours(const std::byte* halves, int half, std::byte* out) {
  const auto nibble = [&](int c) { return at(halves, c % half) >> (4 * (c / half)) & 15u; };
  for (int i = 0; i < half; ++i) out[i] = std::byte(nibble(2 * i) | nibble(2 * i + 1) << 4);
}

}  // namespace

void mxfp4_to_blocks(const std::byte* codes, const std::byte* scales, std::int64_t blocks, std::byte* out) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    out[b * kMxfp4Block] = scales[b];
    to_halves(codes + b * kMxfp4Codes, kMxfp4Codes, out + b * kMxfp4Block + 1);
  }
}

void mxfp4_codes_of(const std::byte* from, std::int64_t blocks, std::byte* out) {
  for (std::int64_t b = 0; b < blocks; ++b)
    to_neighbours(from + b * kMxfp4Block + 1, kMxfp4Codes, out + b * kMxfp4Codes);
}

void mxfp4_scales_of(const std::byte* from, std::int64_t blocks, std::byte* out) {
  for (std::int64_t b = 0; b < blocks; ++b) out[b] = from[b * kMxfp4Block];
}

void nvfp4_to_blocks(const std::byte* codes, const std::byte* scales, std::int64_t blocks, std::byte* out) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::byte* block = out + b * kNvfp4Block;
    std::memcpy(block, scales + b * kNvfp4Scales, kNvfp4Scales);
    for (std::int64_t s = 0; s < kNvfp4Scales; ++s)
      to_halves(codes + (b * kNvfp4Scales + s) * kNvfp4Codes, kNvfp4Codes,
                block + kNvfp4Scales + s * kNvfp4Codes);
  }
}

void nvfp4_codes_of(const std::byte* from, std::int64_t blocks, std::byte* out) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    for (std::int64_t s = 0; s < kNvfp4Scales; ++s)
      to_neighbours(from + b * kNvfp4Block + kNvfp4Scales + s * kNvfp4Codes, kNvfp4Codes,
                    out + (b * kNvfp4Scales + s) * kNvfp4Codes);
  }
}

void nvfp4_scales_of(const std::byte* from, std::int64_t blocks, std::byte* out) {
  for (std::int64_t b = 0; b < blocks; ++b)
    std::memcpy(out + b * kNvfp4Scales, from + b * kNvfp4Block, kNvfp4Scales);
}

}  // namespace manyspan
