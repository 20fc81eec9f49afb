#include "engine/model_folder.h"

#include <filesystem>
#include <system_error>

namespace manyspan {

std::string model_folder_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return path;
  const auto has_config = [&](const fs::path& folder) { return fs::exists(folder / "config.json", unknown); };
  const fs::path named = fs::path(path).parent_path(), beside = named.empty() ? "." : named;
  if (has_config(beside)) return beside.string();
  const fs::path end = fs::canonical(path, unknown).parent_path();  // empty where the link leads nowhere
  return !end.empty() && has_config(end) ? end.string() : beside.string();
}

}  // namespace manyspan
