#include "convert/recipe.h"

#include <array>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "convert/quantise.h"
#include "convert/repack.h"
#include "tensor/bf16.h"

namespace manyspan {
namespace {

constexpr std::int64_t kMxfp4Cols = 32, kNvfp4Cols = 64, kScaleCols = 32, kNvfp4ScaleCols = 16;

using Planes = std::vector<MadePlane>;

MadePlane numbers(StoredType type, std::int64_t cols) { return {Making::numbers, type, "", cols}; }

// Floats as every container stores them: gains as the official files do, where the reader takes nothing finer.
StoredType float_type(const Slot& slot, Encoding e, Target target) {
  if (slot.kind == SlotKind::vector_f32) return StoredType::f32;
  if (slot.kind == SlotKind::vector_bf16) return target == Target::gguf ? StoredType::f32 : StoredType::bf16;
  return e == Encoding::f32 ? StoredType::f32 : e == Encoding::f16 ? StoredType::f16 : StoredType::bf16;
}

// Every number of the encoding, decoded: E4M3 and E2M1 times a power of two fit BF16.
StoredType decoded_type(const MatrixSource& m) {
  switch (m.encoding) {
    case Encoding::fp8_block32:
    case Encoding::fp8_block128:
    case Encoding::mxfp8:
    case Encoding::mxfp4:
    case Encoding::mxfp4_ggml:
    case Encoding::fp8_b128:
    case Encoding::mxfp8_b256:
    case Encoding::row264:
      return StoredType::bf16;
    default:
      return StoredType::f32;
  }
}

StoredType block_type(Encoding e) {
  return static_cast<StoredType>(static_cast<int>(StoredType::q4_0) + static_cast<int>(e) -
                                 static_cast<int>(Encoding::q4_0));
}
static_assert(static_cast<int>(Encoding::mxfp8_b256) - static_cast<int>(Encoding::q4_0) ==
              static_cast<int>(StoredType::mxfp8_b256) - static_cast<int>(StoredType::q4_0));

Planes for_gguf(const Slot& slot, const MatrixSource& m) {
  const bool table = slot.kind == SlotKind::row_scaled_table;
  switch (m.encoding) {
    case Encoding::mxfp8:
      if (!table) break;
      return {{Making::copy_codes, StoredType::i8, "", m.cols},
              {Making::copy_scales, StoredType::i8, "scale", (m.cols + kScaleCols - 1) / kScaleCols}};
    case Encoding::row264:
      return {{Making::e4m3_codes, StoredType::i8, "", m.cols},
              {Making::e8m0_scales, StoredType::i8, "scale", m.cols / kScaleCols}};
    case Encoding::mxfp4:
      if (m.cols % kMxfp4Cols != 0) break;
      return {{Making::mxfp4_blocks, StoredType::mxfp4_ggml, "", m.cols}};
    case Encoding::nvfp4:
      if (m.cols % kNvfp4Cols != 0) break;
      return {{Making::nvfp4_blocks, StoredType::nvfp4_ggml, "", m.cols},
              {Making::factors, StoredType::f32, "scale", 1}};
    case Encoding::nvfp4_ggml:
      return {{Making::copy_codes, StoredType::nvfp4_ggml, "", m.cols},
              {Making::factors, StoredType::f32, "scale", 1}};
    default:
      if (is_blocks(m.encoding)) return {{Making::copy_codes, block_type(m.encoding), "", m.cols}};
  }
  return {numbers(decoded_type(m), m.cols)};
}

Planes for_safetensors(const Slot& slot, const MatrixSource& m) {
  const bool table = slot.kind == SlotKind::row_scaled_table;
  const std::int64_t groups = (m.cols + kScaleCols - 1) / kScaleCols;
  switch (m.encoding) {
    case Encoding::mxfp4_ggml:
      if (table) break;
      return {{Making::mxfp4_codes, StoredType::i8, "", m.cols / 2},
              {Making::mxfp4_scales, StoredType::f8_e8m0, "scale", groups}};
    case Encoding::nvfp4_ggml:
      if (table) break;
      return {{Making::nvfp4_codes, StoredType::u8, "", m.cols / 2},
              {Making::nvfp4_scales, StoredType::f8_e4m3, "weight_scale", m.cols / kNvfp4ScaleCols},
              {Making::factors, StoredType::f32, "weight_scale_2", 1}};
    case Encoding::mxfp4:
      return {{Making::copy_codes, StoredType::i8, "", m.cols / 2},
              {Making::copy_scales, StoredType::f8_e8m0, "scale", groups}};
    case Encoding::nvfp4:
      return {{Making::copy_codes, StoredType::u8, "", m.cols / 2},
              {Making::copy_scales, StoredType::f8_e4m3, "weight_scale", m.cols / kNvfp4ScaleCols},
              {Making::factors, StoredType::f32, "weight_scale_2", 1}};
    case Encoding::mxfp8:
      if (!table) break;
      return {{Making::copy_codes, StoredType::f8_e4m3, "", m.cols},
              {Making::copy_scales, StoredType::f8_e8m0, "scale", groups}};
    case Encoding::row264:
    case Encoding::mxfp8_b256:
      if (!table) break;
      return {{Making::e4m3_codes, StoredType::f8_e4m3, "", m.cols},
              {Making::e8m0_scales, StoredType::f8_e8m0, "scale", groups}};
    case Encoding::fp8_block32:
      return {{Making::copy_codes, StoredType::f8_e4m3, "", m.cols},
              {Making::copy_scales, StoredType::f8_e8m0, "scale", groups}};
    default:
      break;
  }
  return {numbers(decoded_type(m), m.cols)};
}

Encoding number_encoding(StoredType type) {
  return type == StoredType::f32 ? Encoding::f32 : type == StoredType::f16 ? Encoding::f16 : Encoding::bf16;
}

// One row of floats as the type, exactly.
Result<void> put_numbers(StoredType type, const float* row, std::int64_t cols, std::byte* out) {
  if (type == StoredType::f32) {
    std::memcpy(out, row, static_cast<std::size_t>(cols) * sizeof(float));
    return {};
  }
  CHECK(type == StoredType::bf16, "floats of 16 bits that are made are BF16");
  for (std::int64_t c = 0; c < cols; ++c) {
    const Bf16 narrow = to_bf16(row[c]);
    if (to_float(narrow) != row[c]) {
      return Error(Fault::unsupported, "column " + std::to_string(c) + " is " + shown_number(row[c]) +
                                           ", which BF16 does not hold");
    }
    std::memcpy(out + c * 2, &narrow, sizeof narrow);
  }
  return {};
}

Result<void> make_numbers(const MadePlane& plane, const Weight& w, std::int64_t first, std::byte* out) {
  std::vector<float> row(static_cast<std::size_t>(w.cols));
  for (std::int64_t r = 0; r < w.rows; ++r) {
    values(w, r, 0, w.cols, row.data());
    auto put = plane.making == Making::quantised ? quantise_row(plane.type, row, out)
                                                 : put_numbers(plane.type, row.data(), w.cols, out);
    if (!put.ok()) return std::move(put).error().within("row " + std::to_string(first + r));
    out += row_bytes(plane);
  }
  return {};
}

// Rows or blocks of E4M3 with their own E8M0: the part of each that is wanted.
void make_parts(const MadePlane& plane, const Weight& w, std::byte* out) {
  const std::int64_t block = block_bytes(w.encoding), cols = block_cols(w.encoding), scales = block - cols;
  const bool scales_last = w.encoding == Encoding::row264, wanted = plane.making == Making::e8m0_scales;
  const std::int64_t from = wanted == scales_last ? (wanted ? cols : scales) : 0,
                     count = wanted ? scales : cols;
  const std::int64_t blocks = code_bytes(w) / block;
  for (std::int64_t b = 0; b < blocks; ++b)
    std::memcpy(out + b * count, w.codes + b * block + from, static_cast<std::size_t>(count));
}

Result<void> check_signs(const Weight& w, std::int64_t scales) {
  for (std::int64_t i = 0; i < scales; ++i) {
    if ((std::to_integer<unsigned>(w.scales[i]) & 0x80u) == 0) continue;
    return Error(Fault::unsupported,
                 "scale " + std::to_string(i) + " is negative, which GGUF's NVFP4 does not hold");
  }
  return {};
}

}  // namespace

Result<std::vector<MadePlane>> lossless_planes(const Slot& slot, const MatrixSource& m, Target target) {
  const bool floats =
      m.encoding == Encoding::f32 || m.encoding == Encoding::f16 || m.encoding == Encoding::bf16;
  Planes planes;
  if (floats) {
    const StoredType type = float_type(slot, m.encoding, target);
    const bool same = number_encoding(type) == m.encoding;
    planes = {{same ? Making::copy_codes : Making::numbers, type, "", m.cols}};
  } else {
    planes = target == Target::gguf ? for_gguf(slot, m) : for_safetensors(slot, m);
  }
  if (planes[0].making == Making::numbers && !slot.allowed.has(number_encoding(planes[0].type))) {
    return Error(Fault::unsupported,
                 std::string(name(m.encoding)) + " of the " + std::string(name(slot.role)) +
                     " has no equal in this container: it would be " + std::string(name(planes[0].type)) +
                     ", which a model may not store it as");
  }
  return planes;
}

std::int64_t row_bytes(const MadePlane& plane) {
  const StoredBlock block = block_of(plane.type);
  return plane.row / block.elements * block.bytes;
}

Result<void> make_rows(const MadePlane& plane, const Weight& w, std::int64_t first,
                       std::span<std::byte> out) {
  CHECK(std::ssize(out) == w.rows * row_bytes(plane), "room for the rows and no more");
  std::byte* to = out.data();
  const std::int64_t all = std::int64_t{w.rows} * w.cols;
  switch (plane.making) {
    case Making::copy_codes:
      std::memcpy(to, w.codes, out.size());
      break;
    case Making::copy_scales:
      std::memcpy(to, w.scales, out.size());
      break;
    case Making::numbers:
    case Making::quantised:
      return make_numbers(plane, w, first, to);
    case Making::mxfp4_blocks:
      mxfp4_to_blocks(w.codes, w.scales, all / kMxfp4Cols, to);
      break;
    case Making::mxfp4_codes:
      mxfp4_codes_of(w.codes, all / kMxfp4Cols, to);
      break;
    case Making::mxfp4_scales:
      mxfp4_scales_of(w.codes, all / kMxfp4Cols, to);
      break;
    case Making::nvfp4_blocks:
      TRY(check_signs(w, all / kNvfp4ScaleCols));
      nvfp4_to_blocks(w.codes, w.scales, all / kNvfp4Cols, to);
      break;
    case Making::nvfp4_codes:
      nvfp4_codes_of(w.codes, all / kNvfp4Cols, to);
      break;
    case Making::nvfp4_scales:
      nvfp4_scales_of(w.codes, all / kNvfp4Cols, to);
      break;
    case Making::e4m3_codes:
    case Making::e8m0_scales:
      make_parts(plane, w, to);
      break;
    case Making::factors:
      CHECK(false, "factors are no rows");
  }
  return {};
}

}  // namespace manyspan
