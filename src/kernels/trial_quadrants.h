// trial_quadrants — for tests: a matrix whose scales alone tell where they were read from.
//
// Its codes are random; the scale of each cell (the numbers that share one) is a power of two that differs from those
// beside it, above it and across the diagonal. What a right reading gives is then exact, and so is what each of the
// usual mistakes would give.
#pragma once

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/trial_matrix.h"

namespace manyspan::kernels {

struct Cell {
  std::int32_t rows, cols;
};

// The numbers that share one scale; 0 x 0: no scales.
constexpr Cell scale_cell(Encoding e) {
  switch (e) {
    case Encoding::f32:
    case Encoding::f16:
    case Encoding::bf16:
      return {0, 0};
    case Encoding::fp8_block32:
      return {32, 32};
    case Encoding::fp8_block128:
    case Encoding::fp8_block128_f32:
      return {128, 128};
    case Encoding::nvfp4:
    case Encoding::nvfp4_ggml:
      return {1, 16};
    case Encoding::mxfp8:
    case Encoding::mxfp4:
    case Encoding::mxfp8_b256:
    case Encoding::row264:
      return {1, 32};
    default:
      return {1, block_cols(e)};
  }
}

// Readings of the grid of scales [down, across] for row r and cell column k: where in the flat grid.
enum class Reading { right, transposed, running_by_rows, one_for_each_row, one_for_each_column };
inline constexpr Reading kWrongReadings[] = {Reading::transposed, Reading::running_by_rows,
                                             Reading::one_for_each_row, Reading::one_for_each_column};
inline std::string name(Reading reading) {
  constexpr const char* kNames[] = {"right", "transposed", "running by rows", "one for each row",
                                    "one for each column"};
  return kNames[static_cast<int>(reading)];
}

class Quadrants {
 public:
  // Four cells down and three across at least, the last ones cut short where the encoding allows it; rows that fill no
  // tile.
  explicit Quadrants(Encoding e)
      : Quadrants(
            e, scale_cell(e).rows == 1 ? 19 : 3 * scale_cell(e).rows + scale_cell(e).rows / 4 + 1,
            whole_cols(e) == 1 ? 2 * scale_cell(e).cols + scale_cell(e).cols / 4 + 3 : three_across(e)) {}

  // Of a shape that a caller needs, about as large.
  Quadrants(Encoding e, std::int32_t down, std::int32_t across)
      : rows(down), cols(across), cell_(scale_cell(e)) {
    down_ = (rows + cell_.rows - 1) / cell_.rows, across_ = (cols + cell_.cols - 1) / cell_.cols;
    Chance chance(static_cast<std::uint64_t>(e) + 1);
    Matrix m = plain_matrix(chance, e, rows, cols);
    unscaled_ = set(m, 0);
    matrix = set(m, 1);
  }

  // What `reading` makes of number n, k.
  float expected(Reading reading, std::int32_t n, std::int32_t k) const {
    const std::int32_t at = place(reading, n, k / cell_.cols);
    return std::ldexp(value(unscaled_.w, n, k), power(at));
  }

  // Whether there is such a mistake: where cells have one row, running by rows is right.
  bool possible(Reading reading) const { return reading != Reading::running_by_rows || cell_.rows > 1; }

  // Columns of three whole cells.
  static std::int32_t three_across(Encoding e) { return 3 * std::max(whole_cols(e), scale_cell(e).cols); }

  Matrix matrix;
  std::int32_t rows, cols;

 private:
  static int power(std::int32_t at) { return at * 5 % 13 - 6; }

  std::int32_t place(Reading reading, std::int32_t n, std::int32_t k) const {
    const std::int32_t i = n / cell_.rows;
    switch (reading) {
      case Reading::transposed:
        return k * down_ + i;
      case Reading::running_by_rows:
        return (n * across_ + k) % (down_ * across_);
      case Reading::one_for_each_row:
        return i * across_;
      case Reading::one_for_each_column:
        return k;
      default:
        return i * across_ + k;
    }
  }

  // A copy with the scale of each cell 2^(times · its power).
  Matrix set(const Matrix& from, int times) const {
    Matrix m = from;
    for (std::int32_t at = 0; at < down_ * across_; ++at) {
      const int to = times * power(at);
      if (is_blocks(m.w.encoding)) {
        const std::int32_t first = at % across_ * cell_.cols, wide = block_cols(m.w.encoding);
        const std::int64_t block = at / across_ * (cols / wide) + first / wide;
        set_scale(m.w.encoding, m.codes.data() + block * block_bytes(m.w.encoding), first % wide / cell_.cols,
                  to);
      } else if (m.w.encoding == Encoding::fp8_block128_f32) {
        const float scale = std::ldexp(1.0f, to);
        std::memcpy(m.scales.data() + 4 * at, &scale, 4);
      } else {
        m.scales[at] = m.w.encoding == Encoding::nvfp4 ? e4m3(to) : std::byte(127 + to);
      }
    }
    m.point();
    return m;
  }

  static std::byte e4m3(int power) { return std::byte((power + 7) << 3); }

  // Scale `index` of a block; where a block has its scale in halves, all of them.
  static void set_scale(Encoding e, std::byte* block, int index, int power) {
    if (e == Encoding::nvfp4_ggml) block[index] = e4m3(power);
    if (e8m0_places(e).count > 0) block[e8m0_places(e).first + index] = std::byte(127 + power);
    for (const int at : half_places(e).at) {
      if (at >= 0) block[at] = std::byte{0}, block[at + 1] = std::byte((15 + power) << 2);
    }
  }

  Cell cell_;
  std::int32_t down_ = 0, across_ = 0;
  Matrix unscaled_;
};

inline std::vector<Encoding> every_scaled_encoding() {
  std::vector<Encoding> scaled;
  for (const Encoding e : every_encoding()) {
    if (scale_cell(e).rows != 0) scaled.push_back(e);
  }
  return scaled;
}

}  // namespace manyspan::kernels
