// Thrift: what a decode step of the released model asks of its devices, counted where nothing is done.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/host_tables.h"
#include "model/dims.h"
#include "tests/support/blank_weights.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

constexpr std::int64_t kMostOperations = 12;  // of a layer, on the main queue

Blueprint released() {
  std::ifstream file(data_path("configs/release.json"));
  return read_blueprint(std::string(std::istreambuf_iterator<char>(file), {})).value();
}

Placement even_cut(std::int32_t layers, std::int32_t stages) {
  std::vector<std::int32_t> ends;
  for (std::int32_t s = 1; s <= stages; ++s) ends.push_back(layers * s / stages);
  return placement_of_layer_ends(ends, layers, stages).value();
}

// A pipeline of the released model over `stages` dry devices, and what its steps have asked of each.
class DryRun {
 public:
  DryRun(std::int32_t stages, const Limits& limits)
      : world_(SimWorld::create({.devices = stages, .dry = true}).value()),
        weights_(blank_weights(blueprint_, *kernels::host_tables().back())),
        // Rows of the tables are read on the host in every step; those of a small checkpoint do as well.
        engram_(checkpoint(data_path("t1_base")).weights, checkpoint(data_path("t1_base")).blueprint) {
    std::vector<Pipeline::Place> places;
    tables_.reserve(stages);
    for (std::int32_t s = 0; s < stages; ++s) {
      tables_.push_back(kernels::simulated(*kernels::host_tables().back(), *world_, s));
      places.push_back({world_->device(s), tables_[s], *weights_});
    }
    auto pipeline = Pipeline::create(even_cut(blueprint_.layers, stages), places, host_,
                                     {blueprint_, schedule_, engram_}, limits);
    EXPECT_TRUE(pipeline.ok()) << pipeline.error().message();
    pipeline_ = std::move(pipeline).value();
  }

  // One step of as many sessions as rows, each decoding a token; what it has asked of each device.
  std::vector<SimWorld::Counts> decode(std::int32_t rows, std::int32_t position) {
    std::vector<SimWorld::Counts> asked;
    for (int d = 0; d < world_->devices(); ++d) asked.push_back(world_->counts(d));
    const std::vector<TokenId> ids(rows, TokenId{7});
    const std::vector<std::uint8_t> marks(rows, 0);
    std::vector<std::int32_t> sampled(rows);
    std::iota(sampled.begin(), sampled.end(), 0);
    std::vector<kernels::Run> runs;
    for (std::int32_t r = 0; r < rows; ++r) runs.push_back({r, {position}, r, 1});
    const std::vector<kernels::Next> wishes(rows);
    const std::vector<std::int64_t> table_rows(rows * engram_columns(blueprint_), 0);
    const std::vector<std::span<const std::int64_t>> engram(blueprint_.engram.layers.size(), table_rows);
    const auto out = pipeline_->step({ids, runs, marks, sampled, wishes, engram}, false);
    EXPECT_TRUE(out.ok()) << out.error().message();
    for (int d = 0; d < world_->devices(); ++d) {
      const SimWorld::Counts now = world_->counts(d);
      asked[d] = {.operations_main = now.operations_main - asked[d].operations_main,
                  .operations_side = now.operations_side - asked[d].operations_side,
                  .copies = now.copies - asked[d].copies,
                  .waits = 0,
                  .allocations = now.allocations - asked[d].allocations,
                  .waits_by_host = now.waits_by_host - asked[d].waits_by_host};
    }
    return asked;
  }

  const Blueprint& blueprint() const { return blueprint_; }

 private:
  const Blueprint blueprint_ = released();
  const Schedule schedule_ = schedule_of(blueprint_);
  HostDevice host_{1};
  std::unique_ptr<SimWorld> world_;
  std::unique_ptr<Prepared> weights_;
  EngramTables engram_;
  std::vector<kernels::Table> tables_;
  std::unique_ptr<Pipeline> pipeline_;
};

constexpr Limits kSmall{.step_rows = 8, .sampled_rows = 8, .sessions = 8, .context = 256};

SimWorld::Counts sum(const std::vector<SimWorld::Counts>& all) {
  SimWorld::Counts s;
  for (const SimWorld::Counts& c : all) {
    s.operations_main += c.operations_main, s.operations_side += c.operations_side, s.copies += c.copies;
    s.allocations += c.allocations, s.waits_by_host += c.waits_by_host;
  }
  return s;
}

class ThriftOfStages : public testing::TestWithParam<std::int32_t> {};

TEST_P(ThriftOfStages, ADecodeStepIsAFewOperationsNoAllocationAndOneWaitForEachStage) {
  const std::int32_t stages = GetParam();
  DryRun run(stages, kSmall);
  for (const std::int32_t rows : {1, 8}) {
    const SimWorld::Counts c = sum(run.decode(rows, 200));
    std::printf("%d stages, %d rows: %ld main and %ld side operations, %ld copies, %ld waits by the host\n",
                stages, rows, c.operations_main, c.operations_side, c.copies, c.waits_by_host);
    EXPECT_LE(c.operations_main, kMostOperations * run.blueprint().layers);
    EXPECT_EQ(c.allocations, 0);
    // The step's end, which is asked of every stage, as each tells its own faults.
    EXPECT_EQ(c.waits_by_host, stages);
  }
}
INSTANTIATE_TEST_SUITE_P(Released, ThriftOfStages, testing::Values(1, 8));

// Forty devices of one layer each show what every layer costs, with the appends of rows that it reads a copy
// of.
TEST(Thrift, NoLayerIsDearer) {
  DryRun run(40, kSmall);
  const Blueprint& b = run.blueprint();
  const auto asked = run.decode(1, 200);
  for (std::int32_t l = 0; l < b.layers; ++l) {
    const bool engram = std::ranges::count(b.engram.layers, l) != 0;
    // A stage ends with a turn of its own; embedding, gather, turn, head and sample are the whole model's.
    const std::int64_t others = 1 + (l == 0 ? 1 : 0) + (l == b.layers - 1 ? 4 : 0);
    EXPECT_LE(asked[l].operations_main - others, kMostOperations) << "layer " << l;
    // Of Engram its rows and their projection too.
    EXPECT_LE(asked[l].operations_side, engram ? 5 : 3) << "layer " << l;
  }
}

}  // namespace
}  // namespace manyspan::test
