// options — what whoever opens an engine may wish, with defaults and reasons.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "device/device.h"
#include "kernels/table.h"
#include "prepared/placement.h"
#include "prepared/prepared.h"

namespace manyspan {

enum class Numerics : std::uint8_t {
  fast,    // the table people run
  strict,  // the reference: reductions in double, rounding at the specification's points
};

struct EngineOptions {
  // A directory in the official layout, or a .safetensors file, or a link to one, beside its config.json; or a .gguf, the
  // first part of a split set of them, or a directory with one such model.
  std::string model{};
  Numerics numerics = Numerics::fast;
  std::string table{};  // of fast, by name as `doctor` lists them; empty: the fastest that runs here
  const kernels::Table* kernels = nullptr;  // wins over numerics and table; borrowed
  int threads = 0;                          // 0: one a core
  std::string devices = "cpu";              // "cpu", or "sim:N": as many simulated ones, late and watchful
  // Simulated devices run at the same time instead, and each takes so long for its share of a step's layers: to see what
  // a pipeline does, whatever the machine. 0: as the seed wants it, one thing after another.
  std::chrono::microseconds stage_time{0};
  // Where each stage ends, exclusive, or which layers it has; neither: one stage on the CPU, the quickest cut over
  // several devices. On the CPU every stage of a cut is the CPU's.
  std::vector<std::int32_t> layer_ends{};
  std::optional<Placement> stages{};
  std::int64_t context = 0;  // tokens a session may hold; 0: the model's, at most kDefaultContext
  int sessions = 1;          // open at once
  int step_rows = 256;       // prompt tokens run together: more is faster and takes more scratch
  int chunk_beside = 64;  // prompt tokens of a step while others decode: more delays these; 0: as many as fit
  bool cone = true;       // early tokens of a prompt run up to the last KV source only; the bits are the same
  bool every_logit = false;  // room for logits of all rows of a step, as logits() needs it
  std::function<void(const LoadProgress&)> progress{};  // now and then while opening, from the opening thread
  const Cancel* cancel = nullptr;                       // ends the opening
};

// What a stage's queue did.
struct StageSpan {
  int stage;
  QueueKind queue;
  std::string name;  // the operation's, or "copy"
  double from, to;   // seconds since the engine was opened: from when the queue could go on with it
};

// KV of the released model costs 890 B a token: 58 MB a session.
inline constexpr std::int64_t kDefaultContext = 65536;

// From generation_config.json; what it leaves out is as here.
struct GenerationDefaults {
  bool do_sample = false;
  float temperature = 1, top_p = 1;
  std::string thinking = "on";  // off, on, low, high, max or 1..100
  bool thinking_said = false;   // the file names it
};

// What was loaded and what runs it, for whoever shows it.
struct EngineFacts {
  std::string model;  // path
  std::string table;  // "cpu-avx2"
  int threads;
  std::string devices;  // as asked for
  int stages;
  std::int64_t weight_bytes, state_bytes;
  std::int64_t context;
  double load_seconds;
  std::vector<std::string> warnings;      // of config and checkpoint
  std::vector<std::string> capabilities;  // that are off, with the reason
};

}  // namespace manyspan
