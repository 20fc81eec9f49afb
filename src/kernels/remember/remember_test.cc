#include <limits>

#include "kernels/agreement.h"
#include "kernels/round/round.h"

namespace manyspan::kernels {
namespace {

const std::uint8_t* u8(const std::byte* p) { return reinterpret_cast<const std::uint8_t*>(p); }

struct Shape {
  std::int32_t d, key, rope, ratio;
};

// One table's memory of two sessions, fed in chunks.
struct Memory {
  const Shape shape;
  TrialWindow window;
  TrialSource source, mirror;  // the mirror is of another device, which is sent what is published
  std::vector<float> tail;
  std::vector<Bf16> latents;

  explicit Memory(const Shape& s)
      : shape(s),
        window(3, 4, s.d),
        source(3, 4, s.ratio, s.d, s.key),
        mirror(3, 4, s.ratio, s.d, s.key),
        tail(3 * kTailTokens * 2 * s.d, std::numeric_limits<float>::quiet_NaN()) {}

  // Every row that was written, decoded: window rows, compressed rows, keys.
  std::vector<Bf16> all(std::int32_t slot, std::int32_t tokens) const {
    std::vector<Bf16> out;
    const auto grow = [&](std::int64_t n) {
      out.resize(out.size() + n);
      return out.data() + out.size() - n;
    };
    for (std::int32_t p = 0; p < tokens; ++p) {
      grid8_decode(u8(window.view.codes(slot, p)), u8(window.view.scales(slot, p)), shape.d, grow(shape.d));
    }
    for (std::int32_t j = 0; j < tokens / shape.ratio; ++j) {
      const SourceView& v = source.view;
      grid4_row_decode(u8(v.codes(slot, j)), u8(v.scales(slot, j)), shape.d, grow(shape.d));
      grid4_key_decode(u8(v.key_codes(slot, j)), u8(v.key_scales(slot, j)), shape.key, grow(shape.key));
    }
    return out;
  }
};

struct RememberCase {
  Shape shape;
  std::vector<Bf16> k, row, k_gain, row_gain, key_gain;
  std::vector<float> a, g, frequency;
  Matrix wk;

  RememberCase(Chance& chance, const Shape& s, std::int32_t tokens)
      : shape(s),
        k(chance.bf16(tokens * s.d)),
        row(chance.bf16(tokens * s.d)),
        k_gain(chance.bf16(s.d, 1, 0.3f)),
        row_gain(chance.bf16(s.d, 1, 0.3f)),
        key_gain(chance.bf16(s.key, 1, 0.3f)),
        a(chance.f32(tokens * s.d)),
        g(chance.f32(tokens * s.d, 0, 2)),
        frequency(chance.f32(s.rope / 2, 0.3f, 0.1f)),
        wk(plain_matrix(chance, Encoding::bf16, s.key, s.d)) {}

  // Positions [first, first + rows) of slot 1, beside a few of slot 2.
  void chunk(const Table& table, Memory& to, std::int32_t first, std::int32_t rows) const {
    TrialBatch batch({{2, {7}, 0, 1}, {1, {first}, 0, rows}});
    const auto of = [&](const auto& all) {
      auto part = std::decay_t<decltype(all)>(shape.d);
      part.insert(part.end(), all.begin() + first * shape.d, all.begin() + (first + rows) * shape.d);
      part.resize(batch.rows() * shape.d);
      return part;
    };
    const auto k_part = of(k), row_part = of(row);
    const auto a_part = of(a), g_part = of(g);
    const Matrix m = arranged_for(table, wk);
    std::vector<Bf16> latent(batch.rows() * shape.d, kPoison16);
    Remember p = {};
    p.batch = batch.view(), p.eps = 1e-20f, p.rope = {frequency.data(), shape.rope};
    p.k = rows_of(k_part, shape.d), p.k_gain = k_gain.data(), p.window = to.window.view;
    p.source = to.source.view, p.row_gain = row_gain.data(), p.key_gain = key_gain.data(), p.wk = m.w;
    if (shape.ratio > 1) p.a = rows_of(a_part, shape.d), p.g = rows_of(g_part, shape.d);
    if (shape.ratio == 1) p.row = rows_of(row_part, shape.d);
    p.tail = {to.tail.data()};
    p.latent_tap = rows_of(latent, shape.d);
    std::vector<std::byte> published(batch.rows() * to.source.view.row_bytes(), std::byte{0xff});
    const std::int64_t row_bytes = to.source.view.row_bytes();
    p.published = {published.data(), batch.rows(), row_bytes, row_bytes};
    Trial().run(table.remember, p);
    Trial().run(table.append, Append{batch.view(), manyspan::as_const(p.published), to.mirror.view});
  }
};

TEST(Remember, EveryTableAgreesWithTheReference) {
  for (const Shape& s :
       {Shape{64, 32, 16, 1}, {64, 32, 16, 2}, {96, 64, 32, 3}, {512, 128, 64, 2}, {512, 128, 64, 1}}) {
    SCOPED_TRACE(std::to_string(s.d) + " " + std::to_string(s.ratio));
    Chance chance(s.d + s.ratio);
    const RememberCase c(chance, s, 40);
    Memory right(s);
    c.chunk(kReference, right, 0, 40);
    const std::vector<Bf16> wanted = right.all(1, 40);
    each_table([&](const Table& table) {
      Memory y(s);
      c.chunk(table, y, 0, 40);
      const std::vector<Bf16> got = y.all(1, 40);
      // An f32 sum may round to the neighbouring bf16, and that to the neighbouring code: rarely.
      std::int64_t off = 0;
      for (std::size_t i = 0; i < got.size(); ++i) off += got[i].bits != wanted[i].bits;
      EXPECT_LE(off, static_cast<std::int64_t>(got.size()) / 200);
      EXPECT_LE(relative_error(got.data(), wanted.data(), static_cast<std::int64_t>(got.size())), 5e-3);
    });
  }
}

TEST(Remember, ChunksTogetherAreAsTheWhole) {
  for (const Shape& s : {Shape{64, 32, 16, 1}, {96, 64, 32, 3}}) {
    Chance chance(3);
    const RememberCase c(chance, s, 60);
    each_table([&](const Table& table) {
      Memory whole(s), parts(s);
      c.chunk(table, whole, 0, 60);
      std::int32_t first = 0;
      for (const std::int32_t rows : {1, 1, 2, 1, 17, 4, 1, 1, 1, 12, 19}) {
        c.chunk(table, parts, first, rows);
        first += rows;
      }
      EXPECT_TRUE(same_bits(whole.window.bytes, parts.window.bytes));
      EXPECT_TRUE(same_bits(whole.source.bytes, parts.source.bytes));
      EXPECT_TRUE(same_bits(whole.source.bytes, whole.mirror.bytes));
      EXPECT_TRUE(same_bits(parts.source.bytes, parts.mirror.bytes));
    });
  }
}

}  // namespace
}  // namespace manyspan::kernels
