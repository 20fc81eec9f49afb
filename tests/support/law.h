// law — what the laws run over: every small checkpoint and the bundled model, in both numerics, on the host
// and spread over simulated devices.
//
// A law over devices takes its placement, the devices' order and its own choices from one seed. In CI each
// combination runs over a few seeds; MANYSPAN_SEEDS=first:count in the environment runs over those instead,
// thousands if wanted. A failure tells its seed, and so how to see it again.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
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
  bool thorough;             // cheap enough to try every size
  std::int32_t devices = 0;  // simulated ones; 0: the host
};

std::vector<LawCase> law_cases();
std::vector<LawCase> quick_law_cases();  // t1_base and t2_multi in fast numerics: for sanitized builds too
// Those in fast numerics, and t1_base in strict: for laws whose runs are long.
std::vector<LawCase> mostly_fast(std::vector<LawCase> cases);
// One of them, for what depends on lengths and pages alone: two sources of ratio 2, one of ratio 1, in fast
// numerics.
LawCase paging_case();
// Each over 2, 3, 5 and 8 devices.
std::vector<LawCase> over_devices(std::vector<LawCase> cases);
// What the laws over devices run over: everywhere, and in every build.
std::vector<LawCase> spread_cases();
std::vector<LawCase> quick_spread_cases();
void PrintTo(const LawCase& law, std::ostream* out);
std::string law_name(const testing::TestParamInfo<LawCase>& info);

// Calls body(seed) for `count` seeds, which differ from case to case, or for those that the environment
// names; skips, by name, a model with fewer layers than devices.
void for_each_seed(const LawCase& law, int count, const std::function<void(std::uint64_t)>& body);

// A prompt for `model`; different `variant`s differ from the first token on. A shorter one is a longer one's
// beginning.
std::vector<TokenId> law_prompt(const std::string& model, std::size_t variant, std::int64_t tokens = 130);

// The first place at which two runs differ in a bit; -1: nowhere.
std::int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace manyspan::test
