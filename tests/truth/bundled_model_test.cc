// Does the bundled model answer as the oracle does (strict), and as well as it does (fast)?
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/support/evaluation.h"

namespace manyspan::test {
namespace {

RigOptions with(const kernels::Table& table) { return {.table = &table}; }

// The five largest of a row, ties to the lower id.
std::vector<std::int32_t> top_five(const float* row, std::int32_t vocabulary) {
  std::vector<std::int32_t> order(vocabulary);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row[a] > row[b]; });
  order.resize(5);
  return order;
}

void expect_golden(ModelRig& rig, const nlohmann::json& entry) {
  SCOPED_TRACE(entry.at("name").get<std::string>());
  const auto ids = ids_of(entry.at("ids").get<std::vector<std::int32_t>>());
  const std::vector<float> logits = rig.logits(ids);
  const std::int32_t vocabulary = rig.checkpoint().blueprint.vocabulary;
  for (std::size_t i = 0; i < entry.at("positions").size(); ++i) {
    const float* row = logits.data() + entry["positions"][i].get<std::int64_t>() * vocabulary;
    const auto expected = entry["top5_ids"][i].get<std::vector<std::int32_t>>();
    EXPECT_EQ(top_five(row, vocabulary), expected) << "position " << entry["positions"][i];
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(row[expected[k]], entry["top5_logits"][i][k].get<double>(), 1e-3)
          << "position " << entry["positions"][i];
    }
  }
  if (!entry.contains("greedy_ids")) return;
  const auto greedy = ids_of(entry["greedy_ids"].get<std::vector<std::int32_t>>());
  EXPECT_EQ(rig.greedy(ids, greedy.size()), greedy);
}

TEST(StrictBundledSlow, GivesTheOraclesTopLogitsAndContinuations) {
  ModelRig rig(bundled_model(), with(kernels::kReference));
  const auto golden = nlohmann::json::parse(std::ifstream(bundled_model() + "/golden/golden.json"));
  for (const char* part : {"lookup", "passages"}) {
    ASSERT_FALSE(golden.at(part).empty());
    for (const auto& entry : golden.at(part)) expect_golden(rig, entry);
  }
}

TEST(StrictBundledSlow, AnswersAsTheOracleDoes) {
  ModelRig rig(bundled_model(), with(kernels::kReference));
  const Score far = score(rig, lookups(), 10), held = score(rig, world(), 10);
  EXPECT_EQ(far.asked, 4);
  EXPECT_EQ(far.as_strict, far.asked);
  EXPECT_EQ(held.asked, 5);
  EXPECT_EQ(held.right, held.asked);
}

TEST(StrictBundledSlow, HasTheOraclesPerplexity) {
  ModelRig rig(bundled_model(),
               {.table = &kernels::kReference,
                .limits = {.step_rows = 256, .sampled_rows = 256, .sessions = 1, .context = 2048}});
  const Passage passage = passages().back();
  EXPECT_NEAR(perplexity(rig, passage), passage.perplexity, 1e-3 * passage.perplexity);
}

TEST(FastBundledSlow, AnswersAsWellAsStrict) {
  ModelRig rig(bundled_model(), {});
  const Score far = score(rig, lookups()), held = score(rig, world());
  std::printf("fast: %d of %d look-ups, %d of %d table questions, %d as strict\n", far.right, far.asked,
              held.right, held.asked, far.as_strict);
  EXPECT_EQ(far.asked, 40);
  EXPECT_EQ(held.asked, 45);
  EXPECT_GE(far.right, 30);
  EXPECT_GE(held.right, 43);
  EXPECT_GE(far.as_strict, 36);
}

TEST(FastBundledSlow, HasStrictsPerplexityWithinOnePercent) {
  ModelRig rig(bundled_model(), {});
  for (const Passage& p : passages())
    EXPECT_NEAR(perplexity(rig, p), p.perplexity, 0.01 * p.perplexity) << p.source;
}

// Kinds of questions whose strict scores nobody has: shown, not judged.
TEST(FastBundledSlow, OtherKindsAreReported) {
  ModelRig rig(bundled_model(), {});
  const auto file = nlohmann::json::parse(std::ifstream(bundled_model() + "/eval/other.json"));
  for (const auto& [kind, cases] : file.at("cases").items()) {
    int right = 0;
    for (const auto& c : cases) {
      const auto answer = ids_of(c.at("answer_ids").get<std::vector<std::int32_t>>());
      right +=
          rig.greedy(ids_of(c.at("prompt_ids").get<std::vector<std::int32_t>>()), answer.size()) == answer;
    }
    std::printf("fast, %s: %d of %zu\n", kind.c_str(), right, cases.size());
    RecordProperty(kind, right);
    EXPECT_FALSE(cases.empty());
  }
}

}  // namespace
}  // namespace manyspan::test
