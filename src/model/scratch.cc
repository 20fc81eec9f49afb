#include "model/scratch.h"

#include "base/check.h"
#include "model/dims.h"

namespace manyspan {
namespace {

void engram_rows(const Blueprint& b, const Scratch::Wanted& wanted, std::int64_t t, Carver& c, Scratch& s) {
  if (b.engram.layers.empty()) return;
  CHECK(wanted.engram_row_bytes.size() == b.engram.layers.size(), "a width for each Engram layer");
  const std::int64_t columns = engram_columns(b);
  bool any = false;
  for (std::size_t i = 0; i < b.engram.layers.size(); ++i) {
    const bool here = wanted.layers.has({b.engram.layers[i]});
    const std::int64_t bytes = columns * wanted.engram_row_bytes[i];
    s.packed.push_back(here ? c.rows<std::uint8_t>(t, bytes) : Rows<std::uint8_t>{nullptr, t, bytes, bytes});
    any = any || here;
  }
  if (!any) return;
  s.engram_e = c.rows<Bf16>(t, columns * b.engram.head_dim);
  s.engram_kv = c.rows<Bf16>(t, std::int64_t{b.streams + 1} * b.hidden);
}

Scratch lay_out(const Blueprint& b, const Scratch::Wanted& wanted, const Limits& limits, std::byte* memory) {
  Carver c(memory);
  Scratch s{};
  const std::int64_t t = limits.step_rows, r = limits.sampled_rows, n = b.streams;
  const auto mix_rows = [&] {
    return MixRows{c.rows<float>(t, n), c.rows<float>(t, n), c.rows<float>(t, n * n)};
  };
  s.carry = Carry::lay_out(b, {true, true, wanted.published}, t, c);
  s.entry_pre = s.carry.pre;
  s.attention_mix = mix_rows();
  s.expert_mix = mix_rows();
  s.x = c.rows<Bf16>(t, b.hidden);
  s.x8 = c.rows<Bf16>(t, b.hidden);
  s.o = c.rows<Bf16>(t, b.hidden);
  s.qr = c.rows<Bf16>(t, b.q_rank);
  s.q = c.rows<Bf16>(t, std::int64_t{b.heads} * b.head_dim);
  s.k = c.rows<Bf16>(t, b.head_dim);
  s.heads = c.rows<Bf16>(t, std::int64_t{b.heads} * b.head_dim);
  s.groups = c.rows<Bf16>(t, std::int64_t{b.o_groups} * b.o_rank);
  s.a = c.rows<float>(t, b.head_dim);
  s.g = c.rows<float>(t, b.head_dim);
  s.row = c.rows<Bf16>(t, b.head_dim);
  s.index_q = c.rows<Bf16>(t, std::int64_t{b.index_heads} * b.index_dim);
  s.index_w = c.rows<Bf16>(t, b.index_heads);
  s.gate = c.rows<float>(t, b.experts);
  const std::int64_t pairs = t * b.experts_per_token;
  s.routes = {c.take<std::int32_t>(pairs), c.take<float>(pairs), c.take<std::int32_t>(b.experts + 1 + pairs),
              b.experts_per_token};
  engram_rows(b, wanted, t, c, s);
  if (wanted.layers.has({b.layers - 1})) {
    s.last_streams = c.rows<Bf16>(r, n * b.hidden);
    s.last_pre = c.rows<float>(r, n);
    s.z = c.rows<Bf16>(r, b.hidden);
    s.logits = c.rows<float>(r, b.vocabulary);
  }
  s.bytes = c.used();
  return s;
}

}  // namespace

Scratch Scratch::shapes(const Blueprint& b, const Wanted& wanted, const Limits& limits) {
  return lay_out(b, wanted, limits, nullptr);
}
Scratch Scratch::carve(const Blueprint& b, const Wanted& wanted, const Limits& limits, std::byte* memory) {
  return lay_out(b, wanted, limits, memory);
}

}  // namespace manyspan
