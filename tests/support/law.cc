#include "tests/support/law.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

struct Seeds {
  std::uint64_t first;
  int count;
};

// "first:count", or one seed alone.
Seeds asked_for(const char* text) {
  char* end = nullptr;
  Seeds seeds{std::strtoull(text, &end, 10), 1};
  if (*end == ':') seeds.count = std::atoi(end + 1);
  return seeds;
}

}  // namespace

std::vector<LawCase> law_cases() {
  std::vector<LawCase> cases;
  for (const char* name : {"t1_base", "t2_multi", "t3_long"}) {
    for (const kernels::Table* table : both_numerics()) {
      cases.push_back(
          {data_path(name), name, table, std::string(name) == "t1_base" && table != &kernels::kReference});
    }
  }
  for (const kernels::Table* table : both_numerics()) {
    cases.push_back({bundled_model(), "bundled", table, false});
  }
  return cases;
}

std::vector<LawCase> quick_law_cases() {
  std::vector<LawCase> cases;
  for (const LawCase& c : law_cases()) {
    const bool small = c.short_name == "t1_base" || c.short_name == "t2_multi";
    if (small && c.table != &kernels::kReference) cases.push_back(c);
  }
  return cases;
}

std::vector<LawCase> mostly_fast(std::vector<LawCase> cases) {
  std::erase_if(
      cases, [](const LawCase& c) { return c.table == &kernels::kReference && c.short_name != "t1_base"; });
  return cases;
}

LawCase paging_case() {
  const std::vector<LawCase> cases = mostly_fast(law_cases());
  return *std::find_if(cases.begin(), cases.end(),
                       [](const LawCase& c) { return c.short_name == "t2_multi"; });
}

std::vector<LawCase> over_devices(std::vector<LawCase> cases) {
  std::vector<LawCase> spread;
  for (LawCase& c : cases) {
    for (const std::int32_t devices : {2, 3, 5, 8}) {
      c.devices = devices;
      spread.push_back(c);
    }
  }
  return spread;
}

std::vector<LawCase> spread_cases() { return over_devices(mostly_fast(law_cases())); }

std::vector<LawCase> quick_spread_cases() {
  LawCase c = paging_case();
  c.devices = 3;
  return {c};
}

void PrintTo(const LawCase& law, std::ostream* out) {
  *out << law.short_name << ' ' << law.table->name;
  if (law.devices != 0) *out << " over " << law.devices;
}

std::string law_name(const testing::TestParamInfo<LawCase>& info) {
  std::string name = testing::PrintToString(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == ' '; }, '_');
  return name;
}

void for_each_seed(const LawCase& law, int count, const std::function<void(std::uint64_t)>& body) {
  if (checkpoint(law.model).blueprint.layers < law.devices) {
    GTEST_SKIP() << law.short_name << " has fewer layers than " << law.devices << " devices";
  }
  // Neighbouring numbers of devices see other seeds.
  const char* wanted = std::getenv("MANYSPAN_SEEDS");
  const Seeds seeds =
      wanted == nullptr ? Seeds{100 * static_cast<std::uint64_t>(law.devices), count} : asked_for(wanted);
  ASSERT_GT(seeds.count, 0) << "MANYSPAN_SEEDS is first:count";
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << "; again: MANYSPAN_SEEDS=" << seed
                                    << ":1 laws_tests --gtest_filter=" << test.test_suite_name() << '.'
                                    << test.name());
    body(seed);
    if (testing::Test::HasFatalFailure()) return;
  }
}

std::vector<TokenId> law_prompt(const std::string& model, std::size_t variant, std::int64_t tokens) {
  const std::int32_t vocabulary = checkpoint(model).blueprint.vocabulary;
  std::mt19937 random(static_cast<unsigned>(100 + variant));
  std::vector<TokenId> prompt;
  for (std::int64_t i = 0; i < tokens; ++i)
    prompt.push_back({static_cast<std::int32_t>(random() % vocabulary)});
  return prompt;
}

std::int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0) return static_cast<std::int64_t>(i);
  }
  return a.size() == b.size() ? -1 : static_cast<std::int64_t>(std::min(a.size(), b.size()));
}

}  // namespace manyspan::test
