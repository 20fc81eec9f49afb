#include "pipeline/plan.h"

#include <fstream>

#include <gtest/gtest.h>

#include "device/host_device.h"
#include "model/cache.h"

namespace manyspan {
namespace {

Blueprint blueprint_of(const std::string& config) {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/" + config);
  return read_blueprint(std::string(std::istreambuf_iterator<char>(file), {})).value();
}

Machine gpus(int count, std::int64_t bytes, std::int64_t host = 0) {
  Machine m{{}, host};
  for (int i = 0; i < count; ++i)
    m.devices.push_back({"gpu" + std::to_string(i), DeviceKind::gpu, bytes, 864'000'000'000});
  return m;
}

struct Question {
  Blueprint blueprint;
  Machine machine;
  Limits limits{.step_rows = 256, .sampled_rows = 8, .sessions = 8, .context = 65536};
  Schedule schedule = schedule_of(blueprint);
  std::vector<Footprint> footprints{machine.devices.size(), footprint(blueprint, Tiling::plain)};

  Result<Plan> best() const { return best_plan({blueprint, schedule, footprints}, machine, limits); }
  Result<Plan> of(const Placement& p) const {
    return plan_of({blueprint, schedule, footprints}, machine, limits, p);
  }
  Result<Plan> ends(const std::vector<std::int32_t>& ends) const {
    const auto devices = static_cast<std::int32_t>(machine.devices.size());
    return of(placement_of_layer_ends(ends, blueprint.layers, devices).value());
  }
};

Question release(const Machine& machine) {
  return {blueprint_of("tests/data/configs/release.json"), machine};
}

constexpr std::int64_t kGigabyte = 1'000'000'000;

TEST(Plan, WhatCrossesABoundaryIs41KBBeforeLayer20And51KBAfter) {
  const Plan plan = release(gpus(8, 48 * kGigabyte)).ends({5, 10, 15, 20, 25, 30, 35, 40}).value();
  ASSERT_EQ(plan.boundaries.size(), 7u);
  const std::int64_t streams = 4 * 5120 * 2 + 4 * 4;       // 40,976
  const std::int64_t selection = 512 * 4 + 4, rows = 356;  // 2,052
  const std::int64_t candidates = 2048 * 4 + 4;            // 8,196
  EXPECT_EQ(plan.boundaries[0].row_bytes, streams + selection + rows);
  EXPECT_EQ(plan.boundaries[2].row_bytes, streams + selection + rows);
  EXPECT_EQ(plan.boundaries[3].row_bytes, streams);  // into layer 20, which makes all of its own
  EXPECT_EQ(plan.boundaries[4].row_bytes, streams + selection + candidates + rows);
  EXPECT_EQ(plan.boundaries[6].row_bytes, 51'580);
  EXPECT_EQ(plan.boundaries[3].to.range.first, 20);
  EXPECT_EQ(plan.boundaries[3].from_stage, 3);
}

TEST(Plan, RememberedRowsCost890BytesATokenOnOneDevice) {
  const Plan plan = release(gpus(1, 400 * kGigabyte)).ends({40}).value();
  EXPECT_EQ(plan.stages[0].kilotoken_bytes, 1024 * 890);
  // 528 B a layer and position, of 127 + 64 + 1 + 256 positions in pages of 32, and one page more.
  EXPECT_EQ(plan.stages[0].window_bytes, 40 * 15 * 32 * (512 + 16));
  EXPECT_EQ(plan.stages[0].boundary_bytes, 0);
}

TEST(Plan, EveryStageThatReadsASourceKeepsACopy) {
  const Plan plan = release(gpus(8, 48 * kGigabyte)).ends({5, 10, 15, 20, 25, 30, 35, 40}).value();
  const std::int64_t half = 1024 * 178, full = 1024 * 356;  // of ratio 2 and 1
  const std::vector<std::int64_t> wanted = {half, 2 * half, 2 * half, half, full, full, full, full};
  for (std::size_t s = 0; s < wanted.size(); ++s) EXPECT_EQ(plan.stages[s].kilotoken_bytes, wanted[s]) << s;
  EXPECT_EQ(plan.engram_bytes, 768'022'850 * std::int64_t{264});
}

TEST(Plan, AStagesMemoryIsToTheByteWhatItsCacheTakes) {
  for (const char* config : {"tests/data/t1_base/config.json", "tests/data/t2_multi/config.json",
                             "tests/data/t3_long/config.json"}) {
    const Blueprint b = blueprint_of(config);
    const std::int32_t last = b.layers, mid = last / 2;
    const Question q{b, gpus(2, 0), {.step_rows = 48, .sampled_rows = 3, .sessions = 3, .context = 512}};
    const Placement laps = {{{0, {{{0, 2}, {mid, mid + 1}}}}, {1, {{{2, mid}, {mid + 1, last}}}}}};
    const Plan plan = q.of(laps).value();
    HostDevice host(1);
    for (const StagePlan& stage : plan.stages) {
      // Stage 0 is come back to, so six steps have tables of their own.
      EXPECT_EQ(stage.kv_bytes, Cache::create(host, b, stage.layers, q.limits, 6).value()->bytes()) << config;
    }
  }
}

TEST(Plan, TheReleasedModelIsCutOverEightCardsOf48GB) {
  const Question q = release(gpus(8, 48 * kGigabyte));
  const Plan plan = q.best().value();
  ASSERT_EQ(plan.stages.size(), 8u);
  std::vector<std::int32_t> ends;
  for (const StagePlan& stage : plan.stages) ends.push_back(stage.layers.ranges[0].end);
  EXPECT_EQ(ends, (std::vector<std::int32_t>{5, 10, 15, 21, 27, 33, 39, 40}));  // as docs/planning.md shows
  std::int64_t most = 0, all = 0;
  for (const StagePlan& stage : plan.stages) {
    EXPECT_LE(stage.bytes(), 48 * kGigabyte);
    most = std::max(most, stage.read_bytes);
    all += stage.read_bytes;
  }
  EXPECT_LT(static_cast<double>(most), 1.16 * static_cast<double>(all) / 8);
  // The head is as much as four layers, so its stage has fewer.
  EXPECT_LT(plan.stages[7].layers.count(), plan.stages[3].layers.count());
  EXPECT_TRUE(check_fit(plan, q.machine).ok());
}

// What the search reckons for a range is what a cut with that range is then said to take.
TEST(Plan, TheSearchKnowsWhatEachStageTakes) {
  Question q = release(gpus(8, 48 * kGigabyte));
  const Plan plan = q.best().value();
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    Question exact = q;
    exact.machine.devices[s].memory_bytes = plan.stages[s].bytes();
    const Plan same = exact.best().value();
    EXPECT_EQ(same.stages[s].layers.ranges, plan.stages[s].layers.ranges) << s;
    --exact.machine.devices[s].memory_bytes;
    const Result<Plan> other = exact.best();
    if (other.ok()) {
      EXPECT_NE(other.value().stages[s].layers.ranges, plan.stages[s].layers.ranges) << s;
    }
  }
}

TEST(Plan, AFasterDeviceGetsMoreLayers) {
  Question q = release(gpus(4, 200 * kGigabyte));
  q.machine.devices[1].read_bytes_per_second *= 3;
  const Plan plan = q.best().value();
  ASSERT_EQ(plan.stages.size(), 4u);
  EXPECT_GT(plan.stages[1].layers.count(), 2 * plan.stages[0].layers.count());
}

TEST(Plan, WhatDoesNotFitIsRefusedWithBothNumbers) {
  const auto why = [](const Result<Plan>& plan) { return plan.ok() ? "fits" : plan.error().message(); };
  const std::string whole = "the model needs " +
                            std::to_string(release(gpus(1, 0)).ends({40}).value().stages[0].bytes()) +
                            " bytes; the devices have ";
  EXPECT_EQ(why(release(gpus(8, 24 * kGigabyte)).best()), whole + "192000000000");
  EXPECT_EQ(why(release(gpus(8, 38 * kGigabyte)).best()),
            whole + "304000000000, but no cut into one range a device fits");
  EXPECT_EQ(why(release(gpus(8, 48 * kGigabyte)).best()), "fits");

  const Question q = release(gpus(2, 200 * kGigabyte));
  const Plan lopsided = q.ends({39, 40}).value();
  const Result<void> refused = check_fit(lopsided, q.machine);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault(), Fault::exhausted);
  EXPECT_EQ(refused.error().message(), "gpu0: layers L0-38 need " +
                                           std::to_string(lopsided.stages[0].bytes()) +
                                           " bytes; it has 200000000000");
}

TEST(Plan, OneDeviceHasEveryLayerOrTooLittle) {
  const Question q = release(gpus(1, 400 * kGigabyte));
  EXPECT_EQ(q.best().value().stages[0].layers.ranges, all_layers(40).ranges);
  const Result<Plan> refused = release(gpus(1, 48 * kGigabyte)).best();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("bytes; the device has 48000000000"), std::string::npos);
}

TEST(Plan, NoCutIsSoughtForModelsOfVeryManyLayers) {
  Question q = release(gpus(2, 0));
  q.schedule.layers.resize(kMostLayersCut + 1, q.schedule.layers.back());
  for (Footprint& f : q.footprints) f.layers.resize(kMostLayersCut + 1);
  const Result<Plan> refused = q.best();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message(),
            "a cut is sought for models of up to 128 layers; this one has 129: say where its stages end");
}

TEST(Plan, DevicesInTheHostsMemoryShareIt) {
  Question q = release(simulated_machine(2));
  q.machine.host_memory_bytes = 200 * kGigabyte;
  const Result<Plan> refused = q.best();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("bytes; the host has 200000000000"), std::string::npos);
}

TEST(Plan, AWrongCutIsRefused) {
  const Question q = release(gpus(2, 0));
  const Result<Plan> refused = q.of({{{0, {{{0, 20}}}}, {1, {{{21, 40}}}}}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault(), Fault::invalid);
  EXPECT_EQ(refused.error().message(), "layers 20 to 20 are in no stage");
}

}  // namespace
}  // namespace manyspan
