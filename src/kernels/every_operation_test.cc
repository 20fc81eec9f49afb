#include "kernels/every_operation.h"

#include "kernels/every_address.h"

namespace manyspan::kernels {

using S = Setting;

void example(Setting& s, Embed& p) {
  p = {s.table.tiling == Tiling::plain ? s.arena.weight(s.table, Encoding::f32, S::kVocabulary, S::kHidden)
                                       : s.arena.weight(s.table, Encoding::bf16, S::kVocabulary, S::kHidden),
       s.batch, S::kStreams, s.arena.room<Bf16>(S::kRows, S::kStreams * S::kHidden),
       s.arena.room<float>(S::kRows, S::kStreams)};
}

void example(Setting& s, Turn& p) {
  Arena& a = s.arena;
  p.streams = a.bf16(S::kRows, S::kStreams * S::kHidden);
  p.streams_count = S::kStreams, p.used = s.batch.used;
  p.o = as_const(a.bf16(S::kRows, S::kHidden));
  p.post = as_const(a.f32(S::kRows, S::kStreams));
  p.comb = as_const(a.f32(S::kRows, S::kStreams * S::kStreams));
  p.mean = a.room<Bf16>(S::kRows, S::kHidden);
  p.pre = as_const(a.f32(S::kRows, S::kStreams));
  p.gain = a.bf16(1, S::kHidden).data, p.eps = 1e-6f;
  p.x = a.room<Bf16>(S::kRows, S::kHidden), p.x8 = a.room<Bf16>(S::kRows, S::kHidden);
}

void example(Setting& s, Mix& p) {
  Arena& a = s.arena;
  const std::int32_t outputs = 2 * S::kStreams + S::kStreams * S::kStreams;
  p.streams = as_const(a.bf16(S::kRows, S::kStreams * S::kHidden));
  p.streams_count = S::kStreams, p.used = s.batch.used;
  p.fn = a.weight(s.table, Encoding::f32, outputs, S::kStreams * S::kHidden);
  p.base = a.f32(1, outputs).data, p.scale = a.f32(1, 3).data;
  p.eps = p.mix_eps = 1e-6f, p.iterations = 5;
  p.pre = a.room<float>(S::kRows, S::kStreams), p.post = a.room<float>(S::kRows, S::kStreams);
  p.comb = a.room<float>(S::kRows, S::kStreams * S::kStreams);
}

void example(Setting& s, Linear& p) {
  Arena& a = s.arena;
  const Rows<const Bf16> x = as_const(a.bf16(S::kRows, S::kHidden));
  const Encoding encodings[] = {Encoding::f32, Encoding::bf16, Encoding::fp8_block32, Encoding::mxfp4};
  p.count = Linear::kMaxParts, p.used = s.batch.used;
  for (std::int32_t i = 0; i < p.count; ++i) {
    p.parts[i].x = x;
    p.parts[i].w = a.weight(s.table, encodings[i % 4], 32, S::kHidden);
    if (i % 2 == 0) p.parts[i].y.bf16 = a.room<Bf16>(S::kRows, 32);
    if (i % 2 == 1) p.parts[i].y.f32 = a.room<float>(S::kRows, 32);
  }
  p.norm = a.bf16(1, S::kHidden).data, p.eps = 1e-6f, p.grid_in = true;
}

void example(Setting& s, Remember& p) {
  Arena& a = s.arena;
  p.batch = s.batch, p.eps = 1e-6f, p.rope = s.rope;
  p.k = as_const(a.bf16(S::kRows, S::kHeadDim)), p.k_gain = a.bf16(1, S::kHeadDim).data;
  p.window = s.window, p.source = s.source;
  p.a = as_const(a.f32(S::kRows, S::kHeadDim)), p.g = as_const(a.f32(S::kRows, S::kHeadDim));
  p.row = as_const(a.bf16(S::kRows, S::kHeadDim));
  p.row_gain = a.bf16(1, S::kHeadDim).data, p.key_gain = a.bf16(1, S::kKeyDim).data;
  p.wk = a.weight(s.table, Encoding::bf16, S::kKeyDim, S::kHeadDim);
  p.tail = {a.f32(2 * kTailTokens * 2, S::kHeadDim).data};
  p.published = a.room<std::byte>(S::kRows, s.source.row_bytes());
  p.latent_tap = a.room<Bf16>(S::kRows, S::kHeadDim);
}

void example(Setting& s, Select& p) {
  Arena& a = s.arena;
  p.q = as_const(a.bf16(S::kRows, S::kHeads * S::kKeyDim));
  p.head_weights = as_const(a.bf16(S::kRows, S::kHeads));
  p.head_scale = 0.1f, p.heads = S::kHeads, p.batch = s.batch, p.source = s.source, p.rope = s.rope;
  p.read = s.candidates(), p.write = s.candidates(), p.out = s.selection(), p.most_rows = 20;
  p.query_tap = a.room<Bf16>(S::kRows, S::kHeads * S::kKeyDim);
  p.weight_tap = a.room<Bf16>(S::kRows, S::kHeads), p.score_tap = a.room<Bf16>(S::kRows, 20);
}

void example(Setting& s, Attend& p) {
  Arena& a = s.arena;
  p.q = as_const(a.bf16(S::kRows, S::kHeads * S::kHeadDim));
  p.heads = S::kHeads, p.window_rows = 6, p.scale = 0.125f, p.batch = s.batch;
  p.window = s.window, p.source = s.source, p.selected = s.selection(), p.rope = s.rope;
  p.sink = a.f32(1, S::kHeads).data;
  p.o = a.room<Bf16>(S::kRows, S::kHeads * S::kHeadDim);
  p.core_tap = a.room<Bf16>(S::kRows, S::kHeads * S::kHeadDim);
}

void example(Setting& s, Route& p) {
  Arena& a = s.arena;
  const std::int64_t pairs = S::kRows * S::kChosen;
  p.logits = as_const(a.f32(S::kRows, S::kExperts));
  p.bias = a.f32(1, S::kExperts).data, p.bias_vl = a.f32(1, S::kExperts).data;
  p.batch = s.batch, p.temperature = 1, p.route_scale = 1.5f, p.normalise = true;
  p.out = {a.take<std::int32_t>(pairs), a.take<float>(pairs), a.take<std::int32_t>(S::kExperts + 1 + pairs),
           S::kChosen};
  p.picks_tap = a.room<std::int32_t>(S::kRows, S::kChosen);
  p.weights_tap = a.room<float>(S::kRows, S::kChosen);
}

void example(Setting& s, Experts& p) {
  Arena& a = s.arena;
  const std::int64_t pairs = S::kRows * S::kChosen, used = *s.batch.used * S::kChosen;
  // Every row chose experts 0 and 1.
  std::vector<std::int32_t> expert, plan(S::kExperts + 1 + pairs, 0);
  for (std::int32_t i = 0; i < pairs; ++i) expert.push_back(i % 2);
  for (std::int32_t e = 1; e <= S::kExperts; ++e) {
    plan[e] = static_cast<std::int32_t>(e == 1 ? used / 2 : used);
  }
  for (std::int32_t i = 0; i < used; ++i) {
    plan[S::kExperts + 1 + (i % 2 == 0 ? i / 2 : used / 2 + i / 2)] = i;
  }
  p.x8 = as_const(a.bf16(S::kRows, S::kHidden)), p.batch = s.batch, p.expert_count = S::kExperts;
  p.routes = {a.keep(expert), a.f32(S::kRows, S::kChosen).data, a.keep(plan), S::kChosen};
  p.gate_up = a.weight(s.table, Encoding::mxfp4, 2 * S::kInner, S::kHidden, true, 2);
  p.down = a.weight(s.table, Encoding::mxfp4, S::kHidden, S::kInner, false, 2);
  p.shared_gate_up = a.weight(s.table, Encoding::fp8_block32, 2 * S::kInner, S::kHidden, true);
  p.shared_down = a.weight(s.table, Encoding::fp8_block32, S::kHidden, S::kInner);
  std::vector<std::int32_t> place(S::kExperts);
  for (std::int32_t e = 0; e < S::kExperts; ++e) place[e] = 1 - e % 2;
  p.place = a.keep(place), p.limit = 3, p.y = a.room<Bf16>(S::kRows, S::kHidden);
}

void example(Setting& s, EngramRows& p) {
  Arena& a = s.arena;
  const std::int64_t bytes = 2 * (32 + 1);
  p.packed = {a.keep(std::vector<std::uint8_t>(S::kRows * bytes, 0x71)), S::kRows, bytes, bytes};
  p.batch = s.batch, p.columns = 2, p.dim = 32, p.encoding = Encoding::mxfp8;
  p.y = a.room<Bf16>(S::kRows, 64), p.embed_tap = a.room<Bf16>(S::kRows, 64);
}

void example(Setting& s, EngramGate& p) {
  Arena& a = s.arena;
  p.streams = a.bf16(S::kRows, S::kStreams * S::kHidden), p.streams_count = S::kStreams;
  p.batch = s.batch, p.kv = as_const(a.bf16(S::kRows, (S::kStreams + 1) * S::kHidden));
  p.q_gain = a.bf16(S::kStreams, S::kHidden).data, p.k_gain = a.bf16(S::kStreams, S::kHidden).data;
  p.eps = 1e-6f, p.gate_tap = a.room<float>(S::kRows, S::kStreams);
}

void example(Setting& s, Append& p) {
  const std::int64_t bytes = s.source.row_bytes();
  p.batch = s.batch, p.source = s.source;
  p.published = {s.arena.keep(std::vector(S::kRows * bytes, std::byte{0x42})), S::kRows, bytes, bytes};
}

void example(Setting& s, Gather& p) {
  Arena& a = s.arena;
  p = {as_const(a.bf16(S::kRows, S::kStreams * S::kHidden)),
       as_const(a.f32(S::kRows, S::kStreams)),
       a.keep(std::vector<std::int32_t>{6, 2, 3}),
       a.keep(std::vector<std::int32_t>{2}),
       a.room<Bf16>(3, S::kStreams * S::kHidden),
       a.room<float>(3, S::kStreams)};
}

void example(Setting& s, Sample& p) {
  Arena& a = s.arena;
  const Next wish = {.temperature = 0.8f, .top_p = 0.9f, .min_p = 0, .top_k = 20, .seed = 5, .position = {9}};
  p.logits = as_const(a.f32(S::kRows, S::kVocabulary)), p.used = s.batch.used;
  p.wishes = a.keep(std::vector<Next>(S::kRows, wish));
  p.id = a.take<TokenId>(S::kRows), p.logprob = a.take<float>(S::kRows);
}

namespace {

// Each address that a struct holds is shown once, as it stands in the struct: found by looking at its bytes.
TEST(Views, ListEveryAddressOnce) {
  each_operation(kReference, [&](const char* name, auto, auto& p, Setting& s) {
    const std::size_t held = s.arena.addresses_in(p).size();
    EXPECT_GE(held, 5u);
    std::size_t shown = 0;
    std::string last;
    EveryAddress see([&](Field f, auto*& address, const SimExtent&, bool) {
      ++shown, last = f.text();
      const std::byte* was = reinterpret_cast<const std::byte*>(address);
      EXPECT_LE(static_cast<std::uint64_t>(was - s.arena.data()), std::uint64_t{Arena::kBytes}) << last;
      address = nullptr;
    });
    p.views(see);
    EXPECT_EQ(shown, held) << name;
    EXPECT_TRUE(s.arena.addresses_in(p).empty()) << name << " after " << last;
  });
}

// Nothing that an operation is given lies outside of what it says that it touches.
TEST(Views, StayWithinTheArena) {
  each_operation(kReference, [&](const char* name, auto, auto& p, Setting& s) {
    EveryAddress see([&](Field f, auto*& address, const SimExtent& extent, bool) {
      const std::byte* at = reinterpret_cast<const std::byte*>(address);
      EXPECT_LE(at + extent.bytes(), s.arena.data() + Arena::kBytes) << name << "." << f.text();
      EXPECT_TRUE(extent.rest || extent.bytes() > 0) << name << "." << f.text();
    });
    p.views(see);
  });
}

TEST(Views, CountTheBytesOfDenseViews) {
  Setting s(kReference);
  Gather p = {};
  example(s, p);
  EXPECT_EQ(least_bytes(p), 10 * 256 * 2 + 10 * 4 * 4 + 3 * 4 + 4 + 3 * 256 * 2 + 3 * 4 * 4);
  Attend a = {};
  example(s, a);
  const std::int64_t batch =
      4 + 10 * std::int64_t{4 + sizeof(Position) + 4 + 1 + sizeof(kernels::Run) + 4} + 4;
  EXPECT_EQ(least_bytes(a), batch + 3 * 10 * 256 * 2 + 4 * 4 + 10 * 3 * 4 + 10 * 4)
      << "pages, tables and scratch do not count";
}

}  // namespace
}  // namespace manyspan::kernels
