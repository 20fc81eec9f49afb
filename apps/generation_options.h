// GenerationOptions — how to sample, how long, and how to think: from options, a request's own fields and the
// model's generation_config.json, in this order of trust.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/options.h"
#include "engine/request.h"
#include "text/chat_request.h"

namespace CLI {
class App;
}

namespace manyspan::app {

class Settings;

// Of --stop, wherever it is taken: text, and not empty. Errors: invalid
Result<void> check_stops(const std::vector<std::string>& stops);

class GenerationOptions {
 public:
  void declare(CLI::App& options);

  // Takes the model's defaults from its generation_config.json.
  // Errors: as of a file
  Result<void> defaults(Settings& settings, const std::string& model);

  // Before the request is encoded: how to think, and where to stop.
  Result<void> apply(text::ChatRequest& chat) const;

  // After: sampling and limits, with what the request itself asks for.
  void apply(Request& request, const text::SamplingFields& asked = {}) const;

 private:
  struct Given {
    bool temperature = false, top_p = false, top_k = false, min_p = false, seed = false, max_tokens = false,
         stop = false, thinking = false;
  };

  double temperature_ = 0, top_p_ = 1, min_p_ = 0;
  std::int64_t top_k_ = 0, max_tokens_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::string> stop_;
  std::string thinking_ = "on";
  Given given_;
};

}  // namespace manyspan::app
