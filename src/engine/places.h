// Places — the devices that an engine was asked for, a cut of the model over them, and each stage's weights.
//
// Owns       the world of simulated devices, tables for them, and the prepared weights; borrows the host
//            and the checkpoint
// Errors     open: invalid for devices or a cut · unsupported and exhausted from the weights
// Threads    as Engine::open
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/host_device.h"
#include "device/machine.h"
#include "device/sim_device.h"
#include "engine/checkpoint.h"
#include "engine/options.h"
#include "model/limits.h"
#include "pipeline/pipeline.h"

namespace manyspan {

// What EngineOptions::devices says.
struct DeviceChoice {
  DeviceKind kind;
  int count;  // of devices; of the CPU 1
};
// Errors: invalid, with what there is
Result<DeviceChoice> read_devices(std::string_view text);

class Places {
 public:
  static Result<std::unique_ptr<Places>> open(const EngineOptions& options, const kernels::Table& table,
                                              const Checkpoint& checkpoint, HostDevice& host,
                                              const Limits& limits);

  const Placement& placement() const { return placement_; }
  std::span<const Pipeline::Place> list() const { return list_; }  // one for each stage
  std::int64_t weight_bytes() const;
  // Steps under way that give every visit work: as many as visits on devices that run late, one on the host.
  std::int32_t flights() const;
  // See Engine::take_spans.
  std::vector<StageSpan> take_spans();

 private:
  Places() = default;
  Result<void> load(const EngineOptions& options, const kernels::Table& table, const Checkpoint& checkpoint,
                    HostDevice& host);
  void take_time(std::chrono::microseconds stage_time);

  std::unique_ptr<SimWorld> world_;  // null: the host runs every stage; goes last, with the buffers gone
  Placement placement_;
  std::vector<kernels::Table> tables_;  // one for each stage, where there is a world
  std::vector<std::unique_ptr<Prepared>> prepared_;
  std::vector<Pipeline::Place> list_;
};

}  // namespace manyspan
