// layers — what each layer is: window only, source, reader, Engram layer, draft target.
//
// Requires   a Blueprint that read_blueprint returned
// Spec       model.md 3
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "spec/blueprint.h"

namespace manyspan {

struct LayerSchedule {
  LayerId layer;
  std::int32_t ratio;    // tokens per compressed row; 0: window only
  LayerId kv_source;     // whose compressed rows it reads, its own included; -1: none
  LayerId index_source;  // whose selection it uses, its own included; -1: none
  bool is_kv_source, is_index_source;
  bool writes_candidates, reads_candidates;
  std::int32_t engram = -1;        // its place among the Engram layers
  std::int32_t draft_target = -1;  // its place among the layers whose input the draft reads
};

struct Schedule {
  std::vector<LayerSchedule> layers;
};

Schedule schedule_of(const Blueprint& blueprint);

// One line for each run of equal layers: "layers 3-7: ratio 2, rows of 2, selection of 2".
std::vector<std::string> describe(const Schedule& schedule);

}  // namespace manyspan
