#include <cmath>

#include "kernels/cpu_ops.h"
#include "kernels/simd_rows.h"
#include "kernels/simd_team.h"

namespace manyspan::kernels::MANYSPAN_ISA {

namespace {

// Thirty-two numbers that begin at column g of token t's y.
MANYSPAN_INLINE void put(const EngramRows& p, std::int64_t t, std::int64_t g, F a, F b) {
  if (p.embed_tap.data != nullptr) {
    store(a, p.embed_tap.row(t) + g), store(b, p.embed_tap.row(t) + g + kLanes);
  }
  grid8(a, b);
  store(a, p.y.row(t) + g), store(b, p.y.row(t) + g + kLanes);
}

// Codes, then a scale for each 32 of them.
void fp8_rows(Queue& queue, const EngramRows& p) {
  const std::int64_t dim = p.dim, packed = dim + dim / 32, n = p.columns * dim;
  share(workers_of(queue), rows_used(p.batch.rows, p.batch.used), n, [&](std::int64_t t) {
    for (std::int64_t g = 0; g < n; g += 2 * kLanes) {
      const std::uint8_t* row = p.packed.row(t) + g / dim * packed;
      const std::uint8_t* codes = row + g % dim;
      const F scale = all(power(row[dim + g % dim / 32]));
      put(p, t, g, e4m3_small(codes) * all(kE4m3Unit) * scale,
          e4m3_small(codes + kLanes) * all(kE4m3Unit) * scale);
    }
  });
}

// Rows of any encoding. They come from all over a table: finding them takes longer than decoding them one by one.
void other_rows(Queue& queue, const EngramRows& p) {
  constexpr std::int64_t kColumns = 256;  // decoded at a time: whole blocks of every encoding
  const std::int64_t dim = p.dim, packed = lone_row_bytes(p.encoding, p.dim), n = p.columns * dim;
  share(workers_of(queue), rows_used(p.batch.rows, p.batch.used), 2 * n, [&](std::int64_t t) {
    for (std::int64_t c = 0; c < p.columns; ++c) {
      const auto* bytes = reinterpret_cast<const std::byte*>(p.packed.row(t) + c * packed);
      const Weight row = lone_row(p.encoding, p.dim, bytes);
      for (std::int64_t k = 0; k < dim; k += kColumns) {
        const std::int64_t some = dim - k < kColumns ? dim - k : kColumns;
        alignas(64) float x[kColumns];
        values(row, 0, k, some, x);
        for (std::int64_t i = 0; i < some; i += 2 * kLanes)
          put(p, t, c * dim + k + i, round_bf16(load(x + i)), round_bf16(load(x + i + kLanes)));
      }
    }
  });
}

}  // namespace

void engram_rows(Queue& queue, const EngramRows& p) {
  const bool fp8 = p.encoding == Encoding::mxfp8 ||
                   (p.encoding == Encoding::row264 && p.dim == block_cols(Encoding::row264));
  fp8 ? fp8_rows(queue, p) : other_rows(queue, p);
}

namespace {

// Σ X·(q·k)·key of one stream.
MANYSPAN_INLINE float agreement(const Bf16* x, const Bf16* key, const Bf16* q, const Bf16* k,
                                std::int64_t d) {
  F s[2] = {zero(), zero()};
  for (std::int64_t c = 0, i = 0; c < d; c += kLanes, i ^= 1) {
    const F w = load_at(q, c, d) * load_at(k, c, d);
    s[i] = fma(load_at(x, c, d) * w, load_at(key, c, d), s[i]);
  }
  return sum(s[0] + s[1]);
}

MANYSPAN_INLINE float gate_of(const EngramGate& p, const Bf16* x, const Bf16* key, std::int64_t stream,
                              std::int64_t d) {
  const float r = inverse_rms(d, p.eps, [&](std::int64_t c) { return load_at(x, c, d); }) *
                  inverse_rms(d, p.eps, [&](std::int64_t c) { return load_at(key, c, d); });
  const float sum = agreement(x, key, p.q_gain + stream * d, p.k_gain + stream * d, d);
  const float dot = sum * r * (1.0f / std::sqrt(static_cast<float>(d)));
  const float size = std::fabs(dot) > 1e-6f ? std::fabs(dot) : 1e-6f;
  return sigmoid(std::copysign(std::sqrt(size), dot));
}

}  // namespace

void engram_gate(Queue& queue, const EngramGate& p) {
  const std::int64_t streams = p.streams_count, d = p.streams.cols / streams;
  share(workers_of(queue), rows_used(p.streams.rows, p.batch.used), p.streams.cols, [&](std::int64_t t) {
    const Bf16* kv = p.kv.row(t);
    const bool closed = (p.batch.marks[t] & kMarkImageSpan) != 0;
    for (std::int64_t i = 0; i < streams; ++i) {
      Bf16* x = p.streams.row(t) + i * d;
      const float gate = closed ? 0 : gate_of(p, x, kv + i * d, i, d);
      if (p.gate_tap.data != nullptr) p.gate_tap.row(t)[i] = gate;
      for (std::int64_t c = 0; c < d; c += kLanes) {
        store_at(load_at(x, c, d) + all(gate) * load_at(kv + streams * d, c, d), x, c, d);
      }
    }
  });
}

}  // namespace manyspan::kernels::MANYSPAN_ISA
