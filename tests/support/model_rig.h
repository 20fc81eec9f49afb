// ModelRig — a checkpoint, a table, and sessions on top, in one line, for tests of what no single room can
// promise.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/host_device.h"
#include "engine/checkpoint.h"
#include "kernels/simulated.h"
#include "pipeline/pipeline.h"
#include "prepared/engram_rows.h"
#include "session/sessions.h"

namespace manyspan::test {

// The fixtures' folder in the tree, and the bundled model's.
std::string data_path(const std::string& name);
std::string bundled_model();

// Opened once a program and kept; stops the test program when it does not open.
const Checkpoint& checkpoint(const std::string& path);

struct RigOptions {
  const kernels::Table* table = nullptr;  // null: the fastest host table
  Limits limits{.step_rows = 256, .sampled_rows = 256, .sessions = 8, .context = 2048};
  int threads = 2;
  std::optional<Placement> placement{};  // absent: one stage
  SimWorld* world = nullptr;             // whose devices are used; null: the host, for every stage
};

class ModelRig {
 public:
  ModelRig(const std::string& path,
           const RigOptions& options);  // stops the test program when it does not open

  // The same, where a device may refuse: exhausted, unsupported.
  static Result<std::unique_ptr<ModelRig>> open(const std::string& path, const RigOptions& options);

  // Logits of every position of `tokens`, run in chunks of the given lengths (empty: one chunk), then one at
  // a time.
  std::vector<float> logits(std::span<const TokenId> tokens, std::vector<std::int64_t> chunks = {},
                            Trace* trace = nullptr);

  // Runs more tokens of a session, in steps as long as the limits allow; returns their logits.
  std::vector<float> extend(SessionId session, std::span<const TokenId> tokens);

  // Greedy continuation, at most `most` tokens, the end-of-sentence token included.
  std::vector<TokenId> greedy(std::span<const TokenId> prompt, std::size_t most);

  Sessions& sessions() { return *sessions_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  Pipeline& pipeline() { return *pipeline_; }
  Prepared& prepared() { return *prepared_[0]; }  // mutation checks alter it

 private:
  explicit ModelRig(const Checkpoint& checkpoint, int threads);
  Result<void> open(const RigOptions& options);

  const Checkpoint& checkpoint_;
  HostDevice device_;
  std::vector<std::unique_ptr<Prepared>> prepared_;  // one for each stage
  std::vector<kernels::Table> simulated_;            // likewise, where there is a world
  EngramTables engram_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Sessions> sessions_;
};

std::vector<TokenId> ids_of(const std::vector<std::int32_t>& numbers);

// Both kinds of numerics that people can choose: the reference, and the fastest host table.
std::vector<const kernels::Table*> both_numerics();

}  // namespace manyspan::test
