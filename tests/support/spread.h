// Spread — a law's model on as many simulated devices as the law has, cut and ordered by a seed; or on the
// host.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "tests/support/law.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {

// Stage i is on device i and ends before ends[i].
Placement cut_at(const std::vector<std::int32_t>& ends);

// Layers dealt out to `stages` devices in random runs, so that most devices are come back to.
Placement random_laps(std::int32_t layers, std::int32_t stages, std::mt19937& random);

class Spread {
 public:
  Spread(const LawCase& law, const Limits& limits, std::uint64_t seed);
  Spread(const LawCase& law, const Limits& limits, std::uint64_t seed, const Placement& placement);
  ~Spread();  // expects that no buffer is left
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;

  ModelRig& rig() { return *rig_; }
  ModelRig* operator->() { return rig_.get(); }
  Sessions& sessions() { return rig_->sessions(); }
  SimWorld& world() { return *world_; }  // where the law has devices

 private:
  std::unique_ptr<SimWorld> world_;
  std::unique_ptr<ModelRig> rig_;
};

// The logits of law_prompt(law.model, variant, tokens), run alone and at once on the host: what is right.
std::vector<float> right_logits(const LawCase& law, std::size_t variant, std::int64_t tokens);

// Rows [first, end) of such logits.
std::vector<float> logits_between(const LawCase& law, const std::vector<float>& logits, std::int64_t first,
                                  std::int64_t end);

}  // namespace manyspan::test
