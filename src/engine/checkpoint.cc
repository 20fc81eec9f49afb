#include "engine/checkpoint.h"

#include <filesystem>

#include "engine/checkpoint_formats.h"

namespace manyspan {

Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const std::string& path, const Cancel* cancel) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown))
    return Error(Fault::not_found, path + ": no such file or directory");
  auto opened = leads_to_gguf(path) ? open_gguf(path, cancel) : open_official(path, cancel);
  const bool cancelled = cancel != nullptr && cancel->requested();
  if (opened.ok() || cancelled || opened.error().fault() != Fault::invalid) return opened;
  // What a file says wrongly is no mistake of whoever names it.
  return Error(Fault::corrupt, opened.error().message());
}

}  // namespace manyspan
