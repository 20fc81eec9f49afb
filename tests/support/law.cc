#include "tests/support/law.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/support/model_rig.h"

namespace manyspan::test {

std::vector<LawCase> law_cases() {
  std::vector<LawCase> cases;
  for (const char* name : {"t1_base", "t2_multi", "t3_long"}) {
    for (const kernels::Table* table : both_numerics()) {
      cases.push_back({data_path(name), name, table, std::string(name) == "t1_base"});
    }
  }
  for (const kernels::Table* table : both_numerics()) {
    cases.push_back({bundled_model(), "bundled", table, table != &kernels::kReference});
  }
  return cases;
}

std::vector<LawCase> quick_law_cases() {
  std::vector<LawCase> cases;
  for (const LawCase& c : law_cases()) {
    if (c.short_name == "t1_base" || c.short_name == "t2_multi") cases.push_back(c);
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

std::string law_name(const testing::TestParamInfo<LawCase>& info) {
  std::string name = info.param.short_name + "_" + std::string(info.param.table->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
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
