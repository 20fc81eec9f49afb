// plan — where every layer would run, what would lie where and cross what: before anything is allocated.
//
// It stands here and not below because a stage's temporaries are the model's, and what crosses a boundary is
// known where stages meet. Not counted: workspaces, which a table tells when it is asked, and the batch itself.
//
// Requires   a Blueprint that read_blueprint returned, its schedule and footprints; limits inside its context
// Errors     invalid: what is wrong with a cut · exhausted: what does not fit, both numbers
// Threads    pure functions
// Spec       performance.md 1, 5
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/machine.h"
#include "model/limits.h"
#include "pipeline/crossing.h"
#include "prepared/footprint.h"
#include "prepared/placement.h"
#include "spec/blueprint.h"
#include "spec/layers.h"

namespace manyspan {

struct PlanModel {
  const Blueprint& blueprint;
  const Schedule& schedule;
  std::span<const Footprint> footprints;  // one for each device, as its table arranges weights
};

struct StagePlan {
  std::int32_t device;
  StageLayers layers;
  std::int64_t weight_bytes = 0;
  std::int64_t kv_bytes = 0;         // of all sessions, each as long as the context
  std::int64_t scratch_bytes = 0;    // temporaries of a step
  std::int64_t boundary_bytes = 0;   // what leaves, and what has landed
  std::int64_t window_bytes = 0;     // of kv: one session's window, whatever its length
  std::int64_t kilotoken_bytes = 0;  // of kv: rows of one session for each 1024 tokens
  std::int64_t read_bytes = 0;       // of weights, by one decoded token

  std::int64_t bytes() const { return weight_bytes + kv_bytes + scratch_bytes + boundary_bytes; }
};

struct BoundaryPlan {
  Visit to;  // from the visit before it
  std::int32_t from_stage;
  Crossing crossing;
  std::int64_t row_bytes;  // of one row of a step
};

struct Plan {
  Placement placement;
  std::vector<StagePlan> stages{};
  std::vector<BoundaryPlan> boundaries{};
  std::int64_t engram_bytes = 0;  // of tables, which stay in the host's files
};

// A person's cut. Whether it fits is check_fit()'s to say.
Result<Plan> plan_of(const PlanModel& model, const Machine& machine, const Limits& limits,
                     const Placement& placement);

// The cut whose slowest stage is the quickest, by the weights that it reads for a token; one that fits. Over
// several devices a model of more layers than this needs a person's cut (invalid).
inline constexpr std::int32_t kMostLayersCut = 128;
Result<Plan> best_plan(const PlanModel& model, const Machine& machine, const Limits& limits);

// Each device by itself; those in the host's memory together, too.
Result<void> check_fit(const Plan& plan, const Machine& machine);

}  // namespace manyspan
