#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/fingerprint.h"
#include "engine/guarded.h"
#include "engine/limits_of.h"
#include "engine/rooms_impl.h"

namespace manyspan {
namespace {

Result<const kernels::Table*> table_of(const EngineOptions& options) {
  if (options.kernels != nullptr) return options.kernels;
  if (options.numerics == Numerics::strict) {
    if (options.table.empty()) return &kernels::kReference;
    return Error(Fault::invalid, "strict numerics run the reference, not table \"" + options.table + "\"");
  }
  if (options.table.empty()) return kernels::host_tables().back();
  std::string known;
  for (const kernels::Table* t : kernels::host_tables()) {
    if (t->name == options.table) return t;
    known += (known.empty() ? "" : ", ") + std::string(t->name);
  }
  return Error(Fault::invalid, "this machine runs no table \"" + options.table + "\"; it runs " + known);
}

// What the checkpoint cannot do beyond text, for whoever shows it.
std::vector<std::string> capabilities_off(const Checkpoint& c) {
  std::vector<std::string> off;
  if (!c.tokenizer) {
    const bool keys = c.container->format() == ContainerFormat::gguf;
    off.push_back(std::string("text: no ") + (keys ? "tokenizer in its keys" : "tokenizer.json") +
                  ", so prompts and answers are ids");
  }
  for (const Capability capability : {Capability::images, Capability::vision, Capability::draft}) {
    if (!c.weights.has(capability)) {
      off.push_back(std::string(name(capability)) + ": not in the checkpoint");
    } else if (capability != Capability::images) {
      off.push_back(std::string(name(capability)) + ": in the checkpoint, not served yet");
    }
  }
  return off;
}

}  // namespace

Engine::Engine(std::unique_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(const EngineOptions& options) {
  return guarded("opening the model", [&] { return open_rooms(options); });
}

Result<std::unique_ptr<Engine>> Engine::open_rooms(const EngineOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  auto rooms = std::make_unique<Rooms>();
  Rooms& r = *rooms;
  const kernels::Table* table = TRY(table_of(options));
  r.checkpoint = TRY(Checkpoint::open(options.model, options.cancel));
  const Checkpoint& c = *r.checkpoint;
  Limits limits = TRY(limits_of(options, c.blueprint));
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (options.threads < 0 || options.threads > 1024)
    return Error(Fault::invalid, "threads must be between 0 and 1024");
  r.device = std::make_unique<HostDevice>(options.threads == 0 ? cores : options.threads);
  r.places = TRY(Places::open(options, *table, c, *r.device, limits));
  limits.flights = r.places->flights();
  r.engram_tables.emplace(c.weights, c.blueprint);
  r.pipeline = TRY(Pipeline::create(r.places->placement(), r.places->list(), *r.device,
                                    {c.blueprint, c.schedule, *r.engram_tables}, limits));
  r.sessions = std::make_unique<Sessions>(*r.pipeline, c.blueprint, c.engram_map ? &*c.engram_map : nullptr);
  r.loop = TRY(Loop::open(*r.sessions, limits, {.chunk_beside = options.chunk_beside, .cone = options.cone}));

  r.origin = TRY(snapshot_origin(c.blueprint, c.weights, table->name));
  r.facts = {
      .model = options.model,
      .table = std::string(table->name),
      .threads = r.device->workers().threads(),
      .devices = options.devices,
      .stages = static_cast<int>(r.places->placement().stages.size()),
      .weight_bytes = r.places->weight_bytes(),
      .state_bytes = r.pipeline->bytes(),
      .context = limits.context,
      .load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(),
      .warnings = c.warnings,
      .capabilities = capabilities_off(c)};
  return std::unique_ptr<Engine>(new Engine(std::move(rooms)));
}

const Blueprint& Engine::blueprint() const { return rooms_->checkpoint->blueprint; }
const text::Tokenizer* Engine::tokenizer() const {
  return rooms_->checkpoint->tokenizer ? &*rooms_->checkpoint->tokenizer : nullptr;
}
const GenerationDefaults& Engine::defaults() const { return rooms_->checkpoint->defaults; }
const EngineFacts& Engine::facts() const { return rooms_->facts; }
std::vector<StageSpan> Engine::take_spans() { return rooms_->places->take_spans(); }

}  // namespace manyspan
