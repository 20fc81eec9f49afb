#include "engine/checkpoint.h"

#include <filesystem>

#include "engine/checkpoint_formats.h"

namespace manyspan {

Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const std::string& path, const Cancel* cancel) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown))
    return Error(Fault::not_found, path + ": no such file or directory");
  return leads_to_gguf(path) ? open_gguf(path, cancel) : open_official(path, cancel);
}

}  // namespace manyspan
