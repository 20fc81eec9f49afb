// engine_trial — for the engine's tests: an engine that opens, and prompts of any length.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace manyspan {

inline std::unique_ptr<Engine> opened(const EngineOptions& options) {
  auto engine = Engine::open(options);
  if (!engine.ok()) ADD_FAILURE() << engine.error().message();
  return std::move(engine).value();
}

// Different from the first on where `first` is; below 300, which every test checkpoint knows.
inline std::vector<TokenId> ids(std::int32_t count, std::int32_t first = 5) {
  std::vector<TokenId> all;
  for (std::int32_t i = 0; i < count; ++i) all.push_back({(first + i * 7) % 300});
  return all;
}

}  // namespace manyspan
