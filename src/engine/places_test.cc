#include "engine/places.h"

#include <gtest/gtest.h>

#include "engine/engine_trial.h"
#include "pipeline/plan.h"

namespace manyspan {
namespace {

std::string data(const std::string& name) { return std::string(MANYSPAN_SOURCE_DIR) + "/tests/data/" + name; }

std::unique_ptr<Engine> opened_for_logits(EngineOptions options) {
  options.every_logit = true;
  options.step_rows = 16;
  return opened(options);
}

Logits logits_of(Engine& engine) {
  LogitsRequest request;
  for (std::int32_t i = 0; i < 50; ++i) request.ids.push_back({5 + i * 37 % 300});
  request.prompt = 44;
  request.chunks = {16, 3, 16, 9};
  request.taps = {"attn_in", "selection", "x_out"};
  return engine.logits(request).value();
}

void expect_same(const Logits& a, const Logits& b) {
  EXPECT_EQ(a.prefill, b.prefill);
  EXPECT_EQ(a.decode, b.decode);
  ASSERT_EQ(a.taps.size(), b.taps.size());
  for (const auto& [key, tap] : a.taps) {
    ASSERT_TRUE(b.taps.contains(key)) << key;
    EXPECT_EQ(tap.bytes, b.taps.at(key).bytes) << key;
  }
}

TEST(PlacesSlow, EveryCutGivesTheSameBits) {
  for (const char* name : {"t1_base", "t2_multi"}) {
    const auto whole = opened_for_logits({.model = data(name)});
    const Logits right = logits_of(*whole);
    EXPECT_FALSE(right.taps.empty());
    const std::int32_t last = whole->blueprint().layers, mid = last / 2;
    const Placement laps = {{{2, {{{0, 1}, {mid, mid + 1}}}}, {0, {{{1, mid}, {mid + 1, last}}}}}};
    for (const char* devices : {"cpu", "sim:3"}) {
      const auto cut =
          opened_for_logits({.model = data(name), .devices = devices, .layer_ends = {1, mid, last}});
      expect_same(right, logits_of(*cut));
      EXPECT_EQ(cut->facts().stages, 3);
      EXPECT_EQ(cut->facts().devices, devices);
    }
    expect_same(right,
                logits_of(*opened_for_logits({.model = data(name), .devices = "sim:3", .stages = laps})));
    expect_same(right, logits_of(*opened_for_logits({.model = data(name), .devices = "sim:1"})));
    const auto sought = opened_for_logits({.model = data(name), .devices = "sim:2"});
    EXPECT_EQ(sought->facts().stages, 2);
    expect_same(right, logits_of(*sought));
  }
}

TEST(Places, WeightsTakeToTheByteWhatAFootprintSays) {
  for (const kernels::Table* table : {&kernels::kReference, kernels::host_tables().back()}) {
    for (const std::string& model : {data("t1_base"), data("t2_multi"), data("t3_long"),
                                     std::string(MANYSPAN_SOURCE_DIR "/models/first-light")}) {
      const auto checkpoint = Checkpoint::open(model).value();
      const std::int32_t layers = checkpoint->blueprint.layers;
      const Footprint f = footprint(checkpoint->blueprint, table->tiling, &checkpoint->weights);
      HostDevice host(1);
      const Limits limits{.step_rows = 1, .sampled_rows = 1, .sessions = 1, .context = 16};
      const auto whole = Places::open({.model = model}, *table, *checkpoint, host, limits).value();
      EXPECT_EQ(whole->weight_bytes(), f.of(all_layers(layers)).held) << model << table->name;
      const auto cut =
          Places::open({.model = model, .layer_ends = {2, layers}}, *table, *checkpoint, host, limits)
              .value();
      EXPECT_EQ(cut->weight_bytes(), f.of({{{0, 2}}}).held + f.of({{{2, layers}}}).held) << model;
    }
  }
}

TEST(Places, APlanCountsAllButWorkspacesAndTheBatch) {
  const auto engine = opened_for_logits({.model = data("t2_multi"), .devices = "sim:2"});
  const auto c = Checkpoint::open(data("t2_multi")).value();
  const std::vector<Footprint> footprints(
      2, footprint(c->blueprint, kernels::host_tables().back()->tiling, &c->weights));
  const Limits limits{.step_rows = 16,
                      .sampled_rows = 16,
                      .sessions = 1,
                      .context = static_cast<std::int32_t>(engine->facts().context)};
  const Plan plan = best_plan({c->blueprint, c->schedule, footprints}, simulated_machine(2), limits).value();
  std::int64_t planned = 0;
  for (const StagePlan& s : plan.stages) planned += s.kv_bytes + s.scratch_bytes + s.boundary_bytes;
  EXPECT_LE(planned, engine->facts().state_bytes);
  EXPECT_GT(planned, engine->facts().state_bytes / 4);
}

TEST(Places, WhatMakesNoSenseIsRefusedBeforeAnythingIsLoaded) {
  const auto why = [](EngineOptions options) {
    options.model = data("t1_base");
    options.progress = [](const LoadProgress&) { ADD_FAILURE() << "loading"; };
    const auto refused = Engine::open(options);
    if (refused.ok()) return std::string("taken");
    EXPECT_EQ(refused.error().fault(), Fault::invalid);
    return refused.error().message();
  };
  EXPECT_EQ(why({.devices = "gpu"}), "this build has no \"gpu\"; there are cpu and sim:N");
  EXPECT_EQ(why({.devices = "sim"}), "this build has no \"sim\"; there are cpu and sim:N");
  for (const char* wrong : {"sim:", "sim:0", "sim:65", "sim:-1", "sim:2x", "sim: 2"}) {
    EXPECT_EQ(why({.devices = wrong}), "\"" + std::string(wrong) + "\": sim:N takes 1 to 64 devices");
  }
  EXPECT_EQ(why({.devices = "sim:2", .layer_ends = {1, 2, 3}}).substr(0, 14), "the last layer");
  EXPECT_EQ(why({.layer_ends = {2, 2}}), "layer end 2 is not above 2, where the stage begins");
  EXPECT_EQ(why({.layer_ends = {2, 8}, .stages = whole_placement(8)}), "give layer ends or stages, not both");
  EXPECT_EQ(why({.stages = Placement{{{0, {{{1, 3}}}}}}}), "layers 0 to 0 are in no stage");
}

}  // namespace
}  // namespace manyspan
