#include "apps/model_files.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>

#include "apps/bundled_model.h"
#include "apps/settings.h"
#include "apps/status.h"
#include "base/file.h"
#include "engine/model_folder.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{16} << 20;

}  // namespace

void declare_model(CLI::App& options, std::string& model) {
  options
      .add_option(
          "model", model,
          "A model's folder, or a .safetensors file beside its config.json; left out: the bundled model")
      ->type_name("MODEL");
}

Result<void> offer_bundled_model(Settings& settings) {
  return settings.offer("model", {bundled_model()}, Source::fallback);
}

Result<std::string> model_folder(const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code why;
  const fs::file_status status = fs::status(model, why);
  if (fs::is_directory(status)) return model;
  if (!fs::exists(status)) return Error(Fault::not_found, fmt::format("{}: {}", model, why.message()));
  const std::string extension = fs::path(model).extension().string();
  if (extension == ".gguf") return Error(Fault::unsupported, model + ": GGUF files are not read yet");
  if (extension != ".safetensors" && extension != ".json") {
    return Error(Fault::unsupported, model + ": neither a folder nor a .safetensors file");
  }
  return model_folder_of(model);
}

Result<Blueprint> read_model_config(const std::string& model) {
  const std::string config = TRY(model_folder(model)) + "/config.json";
  Result<Blueprint> blueprint = read_blueprint(TRY(of_file(read_file(config, kMaxConfigBytes))));
  if (!blueprint.ok()) return of_file(std::move(blueprint).error()).within(config);
  return blueprint;
}

}  // namespace manyspan::app
