#include "weights/stored_encoding.h"

namespace manyspan {
namespace {

constexpr std::int64_t kRow264 = 264, kRow264Cols = 256;

bool row_scaled(const StoredMatrix& m) {
  return m.slot.kind == SlotKind::row_scaled_table || m.quantization.block_rows == 1;
}

Encoding fp8(const StoredMatrix& m) {
  if (row_scaled(m)) return Encoding::mxfp8;
  return m.quantization.block_rows == 128 ? Encoding::fp8_block128 : Encoding::fp8_block32;
}

// Scales of 16 columns are NVFP4's: E4M3, which MLX writes as bytes.
Encoding fp4(const StoredMatrix& m) {
  if (m.scales == nullptr) return Encoding::mxfp4;
  if (m.scales->type == StoredType::f8_e4m3) return Encoding::nvfp4;
  const bool bytes = m.codes.type == StoredType::u32 && m.scales->type == StoredType::u8;
  return bytes && m.scales->row_elements() * 16 == m.slot.cols ? Encoding::nvfp4 : Encoding::mxfp4;
}

// Words of packed codes: their number tells how many a word holds.
Encoding words(const StoredMatrix& m) {
  const double numbers =
      static_cast<double>(m.matrices) * static_cast<double>(m.slot.rows) * static_cast<double>(m.slot.cols);
  return static_cast<double>(m.codes.elements()) * 4 == numbers ? Encoding::mxfp8 : fp4(m);
}

// In GGUF also the bytes of FP8, which has no type there.
Encoding bytes(const StoredMatrix& m) {
  if (m.gguf && m.slot.kind == SlotKind::row_scaled_table) {
    if (m.codes.row_elements() == kRow264 && m.slot.cols == kRow264Cols) return Encoding::row264;
    if (m.codes.row_elements() == m.slot.cols) return Encoding::mxfp8;
  }
  return fp4(m);
}

}  // namespace

std::optional<Encoding> block_encoding(StoredType type) {
  constexpr auto kFirst = static_cast<int>(StoredType::q4_0),
                 kLast = static_cast<int>(StoredType::mxfp8_b256);
  constexpr auto kFirstEncoding = static_cast<int>(Encoding::q4_0);
  static_assert(kFirstEncoding + kLast - kFirst == static_cast<int>(Encoding::mxfp8_b256));
  static_assert(static_cast<int>(StoredType::q6_k) - kFirst ==
                static_cast<int>(Encoding::q6_k) - kFirstEncoding);
  const auto number = static_cast<int>(type);
  if (number < kFirst || number > kLast) return std::nullopt;
  return static_cast<Encoding>(kFirstEncoding + number - kFirst);
}

std::optional<Encoding> stored_encoding(const StoredMatrix& m) {
  if (in_blocks(m.codes.type)) return block_encoding(m.codes.type);
  switch (m.codes.type) {
    case StoredType::f32:
      return Encoding::f32;
    case StoredType::f16:
      return Encoding::f16;
    case StoredType::bf16:
      return Encoding::bf16;
    case StoredType::f8_e4m3:
      return fp8(m);
    case StoredType::i8:
      return bytes(m);
    case StoredType::u8:
    case StoredType::f4:
      return fp4(m);
    case StoredType::u32:
      return words(m);
    default:
      return std::nullopt;
  }
}

ScaleBlock scale_block(Encoding e) {
  switch (e) {
    case Encoding::fp8_block32:
      return {32, 32};
    case Encoding::fp8_block128:
    case Encoding::fp8_block128_f32:
      return {128, 128};
    case Encoding::mxfp8:
    case Encoding::mxfp4:
      return {1, 32};
    case Encoding::nvfp4:
      return {1, 16};
    default:
      return {0, 0};
  }
}

std::int64_t stored_row(Encoding e, StoredType type, std::int64_t cols) {
  if (e == Encoding::row264) return kRow264;
  if (in_blocks(type)) return cols;
  const std::int64_t each = bits(type) / code_bits(e);  // codes in one element
  return cols % each == 0 ? cols / each : -1;
}

}  // namespace manyspan
