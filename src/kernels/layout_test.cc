#include "kernels/layout.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/f16.h"

namespace manyspan::kernels {
namespace {

// A matrix that owns its bytes.
struct Matrix {
  Weight w = {};
  std::vector<std::byte> codes, scales;

  void own() {
    w.codes = codes.data();
    w.scales = scales.empty() ? nullptr : scales.data();
  }
};

std::int64_t plain_scales(const Weight& w) {
  if (w.encoding == Encoding::fp8_block128) return ((w.rows + 127) / 128) * ((w.cols + 127) / 128);
  return scale_bytes(w);
}

Matrix random_matrix(Encoding e, std::int32_t rows, std::int32_t cols, unsigned seed) {
  std::mt19937 rng(seed);
  Matrix m;
  m.w.rows = rows, m.w.cols = cols, m.w.encoding = e;
  m.codes.resize(code_bytes(m.w)), m.scales.resize(plain_scales(m.w));
  for (std::byte& b : m.codes) {
    b = static_cast<std::byte>(rng());
    if (e == Encoding::fp8_block32 || e == Encoding::fp8_block128 || e == Encoding::mxfp8) {
      if ((b & std::byte{0x7f}) == std::byte{0x7f}) b = std::byte{0x31};
    }
  }
  for (std::byte& b : m.scales) b = static_cast<std::byte>(110 + rng() % 30);
  if (e == Encoding::f32 || e == Encoding::bf16 || e == Encoding::f16) {  // no NaN
    for (std::size_t i = code_bits(e) / 8 - 1; i < m.codes.size(); i += code_bits(e) / 8)
      m.codes[i] &= std::byte{0xb3};
  }
  m.own();
  return m;
}

// What value() says, and for the two encodings that it does not read what their formats say.
float logical(const Matrix& m, std::int64_t n, std::int64_t k) {
  if (m.w.encoding == Encoding::f16) {
    const auto* half = reinterpret_cast<const std::uint16_t*>(m.w.codes);
    return f16_to_float(half[n * m.w.cols + k]);
  }
  if (m.w.encoding != Encoding::fp8_block128) return value(m.w, n, k);
  Weight one = m.w;  // the element as a matrix of one
  one.encoding = Encoding::mxfp8, one.rows = one.cols = 1;
  one.codes += n * m.w.cols + k;
  one.scales += n / 128 * ((m.w.cols + 127) / 128) + k / 128;
  return value(one, 0, 0);
}

Matrix prepared(const Weight& described) {
  Matrix to;
  to.w = described;
  to.codes.assign(arranged_code_bytes(to.w), std::byte{0xff});
  to.scales.assign(arranged_scale_bytes(to.w), std::byte{0xff});
  return to;
}

Matrix arranged_from(const Matrix& from, Tiling tiling, RowOrder order) {
  Matrix to = prepared(arranged(from.w, tiling, order));
  arrange(from.w, to.w, to.codes.data(), to.scales.data());
  to.own();
  return to;
}

constexpr Encoding kAll[] = {Encoding::f32,          Encoding::f16,   Encoding::bf16, Encoding::fp8_block32,
                             Encoding::fp8_block128, Encoding::mxfp8, Encoding::mxfp4};

struct Form {
  Tiling tiling;
  RowOrder order;
};
constexpr Form kForms[] = {{Tiling::plain, RowOrder::natural},
                           {Tiling::cpu16x32, RowOrder::natural},
                           {Tiling::cpu16x32, RowOrder::paired8}};

TEST(Layout, EveryElementIsWhereItIsLookedFor) {
  for (const Encoding e : kAll) {
    for (const auto& [rows, cols] : {std::pair{17, 33}, {1, 1}, {64, 64}, {32, 96}, {130, 150}, {144, 160}}) {
      const Matrix from = random_matrix(e, rows, e == Encoding::mxfp4 ? (cols + 31) / 32 * 32 : cols, 5);
      for (const Form& form : kForms) {
        if (form.order == RowOrder::paired8 && rows % 16 != 0) continue;
        const Matrix to = arranged_from(from, form.tiling, form.order);
        ASSERT_EQ(to.w.rows, from.w.rows);
        ASSERT_EQ(to.w.cols, from.w.cols);
        std::vector<float> row(from.w.cols);
        for (std::int64_t n = 0; n < from.w.rows; ++n) {
          values(to.w, n, 0, from.w.cols, row.data());
          for (std::int64_t k = 0; k < from.w.cols; ++k) {
            ASSERT_EQ(value(to.w, n, k), logical(from, n, k)) << name(e) << " " << n << ", " << k;
            ASSERT_EQ(row[k], logical(from, n, k)) << name(e) << " " << n << ", " << k;
          }
        }
      }
    }
  }
}

TEST(Layout, HalvesStackInEveryOrder) {
  for (const Encoding e : kAll) {
    for (const std::int32_t rows : {32, 160, 8}) {
      const bool blocks = e == Encoding::fp8_block32 || e == Encoding::fp8_block128;
      if (rows % 32 != 0 && blocks) continue;
      const Matrix first = random_matrix(e, rows, 96, 7), second = random_matrix(e, rows, 96, 8);
      for (const Form& form : kForms) {
        Matrix to = prepared(arranged_pair(first.w, form.tiling, form.order));
        arrange_pair(first.w, second.w, to.w, to.codes.data(), to.scales.data());
        to.own();
        ASSERT_EQ(to.w.rows, 2 * rows);
        for (std::int64_t n = 0; n < to.w.rows; ++n) {
          for (std::int64_t k = 0; k < 96; ++k) {
            const float expected = n < rows ? logical(first, n, k) : logical(second, n - rows, k);
            ASSERT_EQ(value(to.w, n, k), expected) << name(e) << " " << n << ", " << k;
          }
        }
      }
    }
  }
}

// 64x64 ones whose four 32x32 blocks have the multipliers 1, 2, 4, 8.
TEST(Layout, EachQuadrantHasItsOwnMultiplier) {
  Matrix from;
  from.w.rows = from.w.cols = 64, from.w.encoding = Encoding::fp8_block32;
  from.codes.assign(64 * 64, std::byte{0x38});
  from.scales = {std::byte{127}, std::byte{128}, std::byte{129}, std::byte{130}};
  from.own();
  for (const Form& form : kForms) {
    const Matrix to = arranged_from(from, form.tiling, form.order);
    for (std::int64_t n = 0; n < 64; ++n) {
      for (std::int64_t k = 0; k < 64; ++k) {
        ASSERT_EQ(value(to.w, n, k), (n < 32 ? 1 : 4) * (k < 32 ? 1 : 2)) << n << ", " << k;
      }
    }
  }
}

TEST(Layout, PaddingIsZeroCodes) {
  const Matrix from = random_matrix(Encoding::fp8_block32, 17, 33, 9);
  const Matrix to = arranged_from(from, Tiling::cpu16x32, RowOrder::natural);
  ASSERT_EQ(to.codes.size(), 4u * 512);
  for (std::int64_t n = 0; n < 32; ++n) {
    for (std::int64_t k = 0; k < 64; ++k) {
      if (n < 17 && k < 33) continue;
      const std::int64_t tile = n / 16 * 2 + k / 32;
      ASSERT_EQ(to.codes[tile * 512 + k % 32 * 16 + n % 16], std::byte{0});
    }
  }
}

TEST(Layout, PairedRowsShareATile) {
  const Matrix first = random_matrix(Encoding::mxfp8, 8, 32, 1),
               second = random_matrix(Encoding::mxfp8, 8, 32, 2);
  Matrix to = prepared(arranged_pair(first.w, Tiling::cpu16x32, RowOrder::paired8));
  arrange_pair(first.w, second.w, to.w, to.codes.data(), to.scales.data());
  EXPECT_EQ(to.codes[5 * 16 + 3], first.codes[3 * 32 + 5]);
  EXPECT_EQ(to.codes[5 * 16 + 8 + 3], second.codes[3 * 32 + 5]);
  EXPECT_EQ(to.scales[8 + 3], second.scales[3]);
}

}  // namespace
}  // namespace manyspan::kernels
