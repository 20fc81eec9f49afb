// EngineChoices — the options of every subcommand that runs a model, and the engine that they ask for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/command.h"
#include "apps/cut_choices.h"
#include "base/result.h"
#include "engine/engine.h"

namespace manyspan::app {

struct EngineChoices {
  std::string model;
  std::string numerics = "fast";
  std::string table;
  int threads = 0;
  std::int64_t context = 0;
  std::string device = "cpu";
  CutChoices cut;

  void declare(CLI::App& options);

  // Files that were given to be read besides the model's, so that none of them is written; empty names among them.
  std::vector<std::string> read_files(const Common& common) const { return {common.config, cut.stages_file}; }

  // With a progress bar while it takes long, and the model's warnings told. `wishes` holds what is not an option.
  // Errors: as Engine::open
  Result<std::unique_ptr<Engine>> open(const Common& common, EngineOptions wishes = {}) const;
};

// "models/first-light: 12.4 MiB of weights, cpu-avx2, 2 threads, loaded in 0.1 s"; "3 stages on sim:3" with a cut.
std::string what_was_loaded(const EngineFacts& facts);

// "off: vision: not in the checkpoint", for each capability that is.
std::vector<std::string> what_is_off(const EngineFacts& facts);

// "412 prompt tokens, 5120 tok/s; 9 generated, 512 tok/s"
std::string speed_line(const Answer& answer);

}  // namespace manyspan::app
