#include "tests/support/spread.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace manyspan::test {
namespace {

Placement placement_by(const LawCase& law, std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  return random_laps(checkpoint(law.model).blueprint.layers, law.devices, random);
}

}  // namespace

Placement cut_at(const std::vector<std::int32_t>& ends) {
  return placement_of_layer_ends(ends, ends.back(), static_cast<std::int32_t>(ends.size())).value();
}

Placement random_laps(std::int32_t layers, std::int32_t stages, std::mt19937& random) {
  std::vector<std::int32_t> owner;
  for (std::int32_t s = 0; s < stages; ++s) owner.push_back(s);  // nobody goes without
  while (static_cast<std::int32_t>(owner.size()) < layers) {
    owner.push_back(random() % 3 == 0 ? static_cast<std::int32_t>(random() % stages) : owner.back());
  }
  std::shuffle(owner.begin(), owner.begin() + stages, random);
  Placement p;
  for (std::int32_t s = 0; s < stages; ++s) {
    StageLayers mine;
    for (std::int32_t l = 0; l < layers; ++l) {
      if (owner[l] != s) continue;
      if (!mine.ranges.empty() && mine.ranges.back().end == l) {
        ++mine.ranges.back().end;
      } else {
        mine.ranges.push_back({l, l + 1});
      }
    }
    p.stages.push_back({s, mine});
  }
  return p;
}

Spread::Spread(const LawCase& law, const Limits& limits, std::uint64_t seed)
    : Spread(law, limits, seed, law.devices == 0 ? Placement{} : placement_by(law, seed)) {}

Spread::Spread(const LawCase& law, const Limits& limits, std::uint64_t seed, const Placement& placement) {
  RigOptions options{.table = law.table, .limits = limits};
  if (law.devices != 0) {
    world_ = SimWorld::create({.devices = law.devices, .seed = seed}).value();
    options.placement = placement;
    options.world = world_.get();
    options.threads = 1;
  }
  rig_ = std::make_unique<ModelRig>(law.model, options);
}

Spread::~Spread() {
  rig_.reset();
  if (world_ != nullptr) {
    EXPECT_EQ(world_->live_buffers(), 0);
  }
}

// Kept, as many runs ask for beginnings of the same.
std::vector<float> right_logits(const LawCase& law, std::size_t variant, std::int64_t tokens) {
  static std::map<std::tuple<std::string, const kernels::Table*, std::size_t>, std::vector<float>> kept;
  const std::int64_t vocabulary = checkpoint(law.model).blueprint.vocabulary;
  std::vector<float>& logits = kept[{law.model, law.table, variant}];
  if (std::ssize(logits) < tokens * vocabulary) {
    logits = ModelRig(law.model, {.table = law.table}).logits(law_prompt(law.model, variant, tokens));
  }
  return {logits.begin(), logits.begin() + tokens * vocabulary};
}

std::vector<float> logits_between(const LawCase& law, const std::vector<float>& logits, std::int64_t first,
                                  std::int64_t end) {
  const std::int64_t vocabulary = checkpoint(law.model).blueprint.vocabulary;
  return {logits.begin() + first * vocabulary, logits.begin() + end * vocabulary};
}

}  // namespace manyspan::test
