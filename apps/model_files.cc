#include "apps/model_files.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>

#include "apps/bundled_model.h"
#include "apps/settings.h"
#include "apps/status.h"
#include "base/file.h"
#include "container/container.h"
#include "engine/generation_config.h"
#include "engine/gguf_description.h"
#include "engine/model_folder.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{16} << 20;

// The keys of a model that leads to a GGUF.
Result<GgufDescription> read_keys(const std::string& model) {
  const Container container = TRY(of_file(open_container(model)));
  return of_file(describe_gguf(container));
}

}  // namespace

void declare_model(CLI::App& options, std::string& model) {
  options
      .add_option("model", model,
                  "A model's folder, a .safetensors file beside its config.json, or a .gguf; left out: the "
                  "bundled model")
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
  if (extension != ".safetensors" && extension != ".json" && !leads_to_gguf(model)) {
    return Error(Fault::unsupported, model + ": neither a folder nor a .safetensors or .gguf file");
  }
  return model_folder_of(model);
}

Result<Blueprint> read_model_config(const std::string& model) {
  const std::string config = TRY(model_folder(model)) + "/config.json";
  if (leads_to_gguf(model)) return TRY(read_keys(model)).blueprint;
  Result<Blueprint> blueprint = read_blueprint(TRY(of_file(read_file(config, kMaxConfigBytes))));
  if (!blueprint.ok()) return of_file(std::move(blueprint).error()).within(config);
  return blueprint;
}

Result<text::Tokenizer> read_model_tokenizer(const std::string& model) {
  const std::string folder = TRY(model_folder(model));
  if (!leads_to_gguf(model)) return of_file(text::Tokenizer::open(folder + "/tokenizer.json"));
  GgufDescription keys = TRY(read_keys(model));
  if (!keys.tokenizer) return Error(Fault::unsupported, model + ": no tokenizer.ggml.tokens among its keys");
  return std::move(*keys.tokenizer);
}

Result<GenerationDefaults> read_model_defaults(const std::string& model) {
  const std::string folder = TRY(model_folder(model));
  if (leads_to_gguf(model)) return GenerationDefaults{};
  return of_file(read_generation_config(folder + "/generation_config.json"));
}

std::string config_name(const std::string& model) { return leads_to_gguf(model) ? "keys" : "config.json"; }

}  // namespace manyspan::app
