#include "kernels/layout.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/trial_matrix.h"

namespace manyspan::kernels {
namespace {

Matrix random_matrix(Encoding e, std::int32_t rows, std::int32_t cols, unsigned seed) {
  Chance chance(seed);
  const std::int32_t whole = whole_cols(e);
  return plain_matrix(chance, e, rows, (cols + whole - 1) / whole * whole);
}

Matrix prepared(Weight to) {
  Matrix m;
  m.w = to;
  m.codes.assign(arranged_code_bytes(to), std::byte{0xee});
  m.scales.assign(arranged_scale_bytes(to), std::byte{0xee});
  return m;
}

Matrix arranged_from(const Matrix& from, Tiling tiling, RowOrder order) {
  Matrix to = prepared(arranged(from.w, tiling, order));
  arrange(from.w, to.w, to.codes.data(), to.scales.data());
  to.point();
  return to;
}

struct Form {
  Tiling tiling;
  RowOrder order;
};
constexpr Form kForms[] = {{Tiling::plain, RowOrder::natural},
                           {Tiling::cpu16x32, RowOrder::natural},
                           {Tiling::cpu16x32, RowOrder::paired8}};

// Row n of `w`, all columns.
std::vector<float> row_of(const Weight& w, std::int64_t n) {
  std::vector<float> row(w.cols);
  values(w, n, 0, w.cols, row.data());
  return row;
}

TEST(Layout, EveryElementIsWhereItIsLookedFor) {
  for (const Encoding e : every_encoding()) {
    for (const auto& [rows, cols] : {std::pair{17, 33}, {1, 1}, {64, 64}, {32, 96}, {130, 150}, {144, 600}}) {
      const Matrix from = random_matrix(e, rows, cols, 5);
      for (const Form& form : kForms) {
        if (form.order == RowOrder::paired8 && rows % 16 != 0) continue;
        const Matrix to = arranged_from(from, form.tiling, form.order);
        ASSERT_EQ(to.w.rows, from.w.rows);
        ASSERT_EQ(to.w.cols, from.w.cols);
        ASSERT_EQ(to.w.encoding, kernel_encoding(e, form.tiling));
        for (std::int64_t n = 0; n < from.w.rows; ++n) {
          const std::vector<float> right = row_of(from.w, n), row = row_of(to.w, n);
          for (std::int64_t k = 0; k < from.w.cols; ++k) {
            ASSERT_EQ(row[k], right[k]) << name(e) << " " << n << ", " << k;
            if ((n + k) % 7 != 0) continue;
            ASSERT_EQ(value(to.w, n, k), right[k]) << name(e) << " " << n << ", " << k;
          }
        }
      }
    }
  }
}

TEST(Layout, HalvesStackInEveryOrder) {
  for (const Encoding e : every_encoding()) {
    for (const std::int32_t rows : {32, 160, 128, 8}) {
      const bool blocks = kernel_encoding(e, Tiling::plain) == Encoding::fp8_block32;
      if (rows % 32 != 0 && blocks) continue;
      const Matrix first = random_matrix(e, rows, 96, 7), second = random_matrix(e, rows, 96, 8);
      for (const Form& form : kForms) {
        Matrix to = prepared(arranged_pair(first.w, form.tiling, form.order));
        arrange_pair(first.w, second.w, to.w, to.codes.data(), to.scales.data());
        to.point();
        ASSERT_EQ(to.w.rows, 2 * rows);
        for (std::int64_t n = 0; n < to.w.rows; ++n) {
          ASSERT_EQ(row_of(to.w, n), n < rows ? row_of(first.w, n) : row_of(second.w, n - rows))
              << name(e) << ", row " << n;
        }
      }
    }
  }
}

TEST(Layout, SomeRowsAreAMatrixOfTheirOwn) {
  for (const Encoding e : every_encoding()) {
    const Matrix from = random_matrix(e, 384, 96, 3);
    Weight some = from.w;
    some.rows = 70;
    for (const Tiling tiling : {Tiling::plain, Tiling::cpu16x32}) {
      Matrix to = prepared(arranged(some, tiling, RowOrder::natural));
      arrange(from.w, to.w, to.codes.data(), to.scales.data(), 256);
      to.point();
      for (std::int64_t n = 0; n < 70; ++n) {
        ASSERT_EQ(row_of(to.w, n), row_of(from.w, 256 + n)) << name(e) << ", row " << n;
      }
    }
  }
}

TEST(Layout, NoTilingTakesMoreThanThreeInAHundredMoreBytes) {
  for (const Encoding e : every_encoding()) {
    const Matrix from = random_matrix(e, 1280, 5120, 3);
    const Weight to = arranged(from.w, Tiling::cpu16x32, RowOrder::natural);
    const auto before = static_cast<double>(code_bytes(from.w) + scale_bytes(from.w));
    EXPECT_LE(static_cast<double>(code_bytes(to) + scale_bytes(to)), 1.03 * before) << name(e);
  }
}

// An nvfp4 scale may have a sign, which a block has no room for.
TEST(Layout, NegativeScalesOfNvfp4AreKept) {
  Matrix from = random_matrix(Encoding::nvfp4, 16, 128, 4);
  for (std::int64_t i = 0; i < factors_at(from.w); i += 3) from.scales[i] |= std::byte{0x80};
  const Matrix to = arranged_from(from, Tiling::cpu16x32, RowOrder::natural);
  for (std::int64_t n = 0; n < 16; ++n) ASSERT_EQ(row_of(to.w, n), row_of(from.w, n));
}

// 64x64 ones whose four 32x32 blocks have the multipliers 1, 2, 4, 8.
TEST(Layout, EachQuadrantHasItsOwnMultiplier) {
  Matrix from;
  from.w.rows = from.w.cols = 64, from.w.encoding = Encoding::fp8_block32;
  from.codes.assign(64 * 64, std::byte{0x38});
  from.scales = {std::byte{127}, std::byte{128}, std::byte{129}, std::byte{130}};
  from.point();
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

TEST(Layout, PaddingRowsAreBlocksOfZeros) {
  const Matrix from = random_matrix(Encoding::q4_k, 17, 512, 9);
  const Matrix to = arranged_from(from, Tiling::cpu16x32, RowOrder::natural);
  ASSERT_EQ(to.codes.size(), 2u * 2 * 144 * 16);
  for (std::int64_t byte = 0; byte < 2 * 144; ++byte) {
    ASSERT_EQ(to.codes[(2 * 144 + byte) * 16], from.codes[16 * 2 * 144 + byte]);
    for (std::int64_t r = 1; r < 16; ++r) ASSERT_EQ(to.codes[(2 * 144 + byte) * 16 + r], std::byte{0});
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
