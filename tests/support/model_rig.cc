#include "tests/support/model_rig.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace manyspan::test {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.error().message().c_str());
    std::abort();
  }
  return std::move(result).value();
}

void must(Result<void> result) {
  if (result.ok()) return;
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::abort();
}

}  // namespace

std::string data_path(const std::string& name) {
  return std::string(MANYSPAN_SOURCE_DIR) + "/tests/data/" + name;
}
std::string bundled_model() { return std::string(MANYSPAN_SOURCE_DIR) + "/models/first-light"; }

const Checkpoint& checkpoint(const std::string& path) {
  static std::map<std::string, std::unique_ptr<Checkpoint>> opened;
  std::unique_ptr<Checkpoint>& entry = opened[path];
  if (entry == nullptr) entry = must(Checkpoint::open(path));
  return *entry;
}

ModelRig::ModelRig(const Checkpoint& checkpoint, int threads)
    : checkpoint_(checkpoint), device_(threads), engram_(checkpoint.weights, checkpoint.blueprint) {}

ModelRig::ModelRig(const std::string& path, const RigOptions& options)
    : ModelRig(test::checkpoint(path), options.threads) {
  must(open(options));
}

Result<std::unique_ptr<ModelRig>> ModelRig::open(const std::string& path, const RigOptions& options) {
  std::unique_ptr<ModelRig> rig(new ModelRig(test::checkpoint(path), options.threads));
  TRY(rig->open(options));
  return rig;
}

Result<void> ModelRig::open(const RigOptions& options) {
  const kernels::Table& table = options.table == nullptr ? *kernels::host_tables().back() : *options.table;
  const Blueprint& b = checkpoint_.blueprint;
  const Placement placement = options.placement ? *options.placement : whole_placement(b.layers);
  std::vector<Pipeline::Place> places;
  for (const Placement::Stage& stage : placement.stages) {
    Device& device = options.world == nullptr ? device_ : options.world->device(stage.device);
    if (options.world != nullptr)
      simulated_.push_back(kernels::simulated(table, *options.world, stage.device));
    prepared_.push_back(TRY(prepare(checkpoint_.weights, b, stage.layers, device, device_, table)));
  }
  for (std::size_t s = 0; s < placement.stages.size(); ++s) {
    const bool late = options.world != nullptr;
    places.push_back(
        {late ? options.world->device(placement.stages[s].device) : static_cast<Device&>(device_),
         late ? simulated_[s] : table, *prepared_[s]});
  }
  pipeline_ =
      TRY(Pipeline::create(placement, places, device_, {b, checkpoint_.schedule, engram_}, options.limits));
  sessions_ =
      std::make_unique<Sessions>(*pipeline_, b, checkpoint_.engram_map ? &*checkpoint_.engram_map : nullptr);
  return {};
}

std::vector<float> ModelRig::logits(std::span<const TokenId> tokens, std::vector<std::int64_t> chunks,
                                    Trace* trace) {
  const SessionId session = must(sessions_->open());
  std::vector<float> all;
  std::size_t at = 0;
  if (chunks.empty()) chunks = {static_cast<std::int64_t>(tokens.size())};
  for (std::size_t i = 0; at < tokens.size(); ++i) {
    const std::size_t wanted = i < chunks.size() ? static_cast<std::size_t>(chunks[i]) : 1;
    const std::size_t count =
        std::min({wanted, tokens.size() - at, static_cast<std::size_t>(pipeline_->limits().step_rows)});
    const Sessions::Piece piece{session, tokens.subspan(at, count), Sessions::Want::all, {}};
    const auto rows = must(sessions_->step({&piece, 1}, true, trace)).logits;
    all.insert(all.end(), rows.data, rows.data + rows.rows * rows.cols);
    at += count;
    if (count < wanted && i < chunks.size())
      chunks[i--] -= static_cast<std::int64_t>(count);  // longer than a step
  }
  sessions_->close(session);
  return all;
}

std::vector<float> ModelRig::extend(SessionId session, std::span<const TokenId> tokens) {
  std::vector<float> all;
  const auto most = static_cast<std::size_t>(pipeline_->limits().step_rows);
  while (!tokens.empty()) {
    const Sessions::Piece piece{
        session, tokens.first(std::min(most, tokens.size())), Sessions::Want::all, {}};
    const auto rows = must(sessions_->step({&piece, 1}, true)).logits;
    all.insert(all.end(), rows.data, rows.data + rows.rows * rows.cols);
    tokens = tokens.subspan(piece.tokens.size());
  }
  return all;
}

std::vector<TokenId> ModelRig::greedy(std::span<const TokenId> prompt, std::size_t most) {
  const SessionId session = must(sessions_->open());
  std::vector<TokenId> answer;
  std::vector<TokenId> feed(prompt.begin(), prompt.end());
  while (answer.size() < most) {
    const auto rows = static_cast<std::size_t>(pipeline_->limits().step_rows);
    const std::span<const TokenId> all(feed);
    for (std::size_t at = 0; at < feed.size(); at += rows) {
      const auto part = all.subspan(at, std::min(rows, feed.size() - at));
      const bool last = at + part.size() == feed.size();
      const Sessions::Piece piece{session, part, last ? Sessions::Want::last : Sessions::Want::nothing, {}};
      const auto out = must(sessions_->step({&piece, 1}, false));
      if (last) answer.push_back(out.ids[0]);
    }
    if (answer.back().value == checkpoint_.blueprint.eos_token) break;
    feed = {answer.back()};
  }
  sessions_->close(session);
  return answer;
}

std::vector<TokenId> ids_of(const std::vector<std::int32_t>& numbers) {
  std::vector<TokenId> ids;
  for (const std::int32_t n : numbers) ids.push_back({n});
  return ids;
}

std::vector<const kernels::Table*> both_numerics() {
  return {&kernels::kReference, kernels::host_tables().back()};
}

}  // namespace manyspan::test
