// law — what the laws run over: every small checkpoint and the bundled model, in both numerics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/ids.h"
#include "kernels/table.h"

namespace manyspan::test {

struct LawCase {
  std::string model;  // a folder
  std::string short_name;
  const kernels::Table* table;
  bool thorough;  // cheap enough to try every size
};

std::vector<LawCase> law_cases();
std::vector<LawCase> quick_law_cases();  // t1_base and t2_multi: for every build, sanitized ones too
// Those in fast numerics, and t1_base in strict: for laws whose runs are long.
std::vector<LawCase> mostly_fast(std::vector<LawCase> cases);
// One of them, for what depends on lengths and pages alone: two sources of ratio 2, one of ratio 1, in fast
// numerics.
LawCase paging_case();
std::string law_name(const testing::TestParamInfo<LawCase>& info);

// A prompt for `model`; different `variant`s differ from the first token on.
std::vector<TokenId> law_prompt(const std::string& model, std::size_t variant, std::int64_t tokens = 130);

// The first place at which two runs differ in a bit; -1: nowhere.
std::int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace manyspan::test
