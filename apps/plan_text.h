// plan_text — a plan as people read it, and as one JSON document.
#pragma once

#include <string>

#include "base/result.h"
#include "device/machine.h"
#include "model/limits.h"
#include "pipeline/plan.h"
#include "spec/layers.h"

namespace manyspan::app {

struct PlanShown {
  std::string model;
  bool weights_seen;    // else encodings are as config.json implies
  std::string machine;  // where it is described; empty: this machine
  const Machine& devices;
  const Schedule& schedule;
  const Limits& limits;
  const Plan& plan;
  std::string lack;  // why it does not fit; empty: it does
};

std::string plan_text(const PlanShown& shown);
std::string plan_json(const PlanShown& shown);

}  // namespace manyspan::app
