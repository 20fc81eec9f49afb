#include "prepared/source_rows.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "tensor/e8m0.h"
#include "weights/matrix_scan.h"

namespace manyspan {
namespace {

// A slow disk delivers this much in far less than the second in which an interrupt must be heard.
constexpr std::int64_t kAtOnce = 4 << 20;

std::int64_t rows_a_scale(const MatrixSource& m) {
  if (m.encoding == Encoding::fp8_block32) return 32;
  return m.encoding == Encoding::fp8_block128 || m.encoding == Encoding::fp8_block128_f32 ? 128 : 1;
}

std::int64_t code_row_bytes(const MatrixSource& m) { return std::ssize(m.codes) / m.rows; }

// Of one row of scales, which serves rows_a_scale() rows.
std::int64_t scale_row_bytes(const MatrixSource& m) {
  return std::ssize(m.scales) / ((m.rows + rows_a_scale(m) - 1) / rows_a_scale(m));
}

struct Part {
  Plane plane;
  std::int64_t from, bytes;
};

Part codes_of(const SourceRows& r) {
  return {Plane::codes, r.first * code_row_bytes(*r.source), r.code_bytes()};
}
Part scales_of(const SourceRows& r) {
  return {Plane::scales, r.first / rows_a_scale(*r.source) * scale_row_bytes(*r.source), r.scale_bytes()};
}

Result<void> read_part(const Weights& weights, const MatrixSource& m, const Part& part, std::byte* to,
                       const Cancel* cancel) {
  const std::int64_t unit = unit_bytes(m, part.plane), step = kAtOnce / unit * unit;
  for (std::int64_t done = 0; done < part.bytes; done += step) {
    if (cancel != nullptr && cancel->requested()) return Error(Fault::invalid, "loading was cancelled");
    const std::span block(to + done, static_cast<std::size_t>(std::min(step, part.bytes - done)));
    const auto from = static_cast<std::uint64_t>(part.from + done);
    TRY(weights.read(m, part.plane, from, block));
    TRY(weights.check(m, part.plane, from, block));
  }
  return {};
}

// In place: byte i is written after the float of bytes 4·i to 4·i + 3 was read. Exact: assembly took powers of two only.
void to_e8m0(std::byte* scales, std::int64_t floats) {
  for (std::int64_t i = 0; i < floats; ++i) {
    scales[i] = std::byte{e8m0_ceil(load_little_endian<float>(scales + i * 4))};
  }
}

}  // namespace

std::int64_t SourceRows::code_bytes() const { return count * code_row_bytes(*source); }

std::int64_t SourceRows::scale_bytes() const {
  if (source->scales.empty()) return 0;
  const std::int64_t step = rows_a_scale(*source);
  return (count + step - 1) / step * scale_row_bytes(*source);
}

std::int64_t SourceRows::room_bytes() const {
  return code_bytes() + std::max(scale_bytes(), manyspan::scale_bytes(shape()));
}

bool SourceRows::whole_scales() const {
  if (source->scales.empty()) return true;
  const std::int64_t step = rows_a_scale(*source);
  return first % step == 0 && (first + count == source->rows || count % step == 0);
}

Weight SourceRows::shape() const {
  Weight w{};
  w.rows = static_cast<std::int32_t>(count);
  w.cols = static_cast<std::int32_t>(source->cols);
  w.encoding = source->encoding;
  return w;
}

Result<Weight> SourceRows::read(const Weights& weights, std::byte* room, const Cancel* cancel) const {
  Weight w = shape();
  TRY(read_part(weights, *source, codes_of(*this), room, cancel));
  w.codes = room;
  std::byte* scales = room + code_bytes();
  if (!source->scales.empty()) {
    TRY(read_part(weights, *source, scales_of(*this), scales, cancel));
    if (source->scale_type == ScaleType::f32 && source->encoding == Encoding::fp8_block128)
      to_e8m0(scales, scale_bytes() / 4);
    w.scales = scales;
  }
  if (has_factors(source->encoding)) {
    w.scales = scales;
    for (std::int64_t r = 0; r < count; ++r)
      std::memcpy(scales + factors_at(w) + r * 4, &source->factor, sizeof source->factor);
  }
  return w;
}

void SourceRows::advise(const Weights& weights, Access access) const {
  for (const Part& part : {codes_of(*this), source->scales.empty() ? Part{} : scales_of(*this)}) {
    if (part.bytes == 0) continue;
    weights.advise(*source, part.plane, static_cast<std::uint64_t>(part.from),
                   static_cast<std::uint64_t>(part.bytes), access);
  }
}

}  // namespace manyspan
