// beside — the files that stand beside a checkpoint's tensors in the official layout.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "engine/checkpoint.h"
#include "engine/model_folder.h"

namespace manyspan {

inline std::string path_beside(const Checkpoint& c, const char* name) {
  return (std::filesystem::path(model_folder_of(c.path)) / name).string();
}

// The file's text; nothing where there is no such file.
inline Result<std::optional<std::string>> text_beside(const Checkpoint& c, const char* name) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  auto text = read_file(path_beside(c, name), kMostBytes);
  if (text.ok()) return std::optional(std::move(text).value());
  if (text.error().fault() == Fault::not_found) return std::optional<std::string>();
  return std::move(text).error();
}

}  // namespace manyspan
