#include "apps/checked_model.h"

#include <filesystem>
#include <fmt/core.h>

#include "base/file.h"
#include "engine/gguf_description.h"
#include "engine/model_folder.h"
#include "spec/blueprint.h"
#include "verify/scales_alone.h"
#include "weights/assemble.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{16} << 20;

// Of the machine or of a person, not of the files.
bool outside(const Error& error, const Cancel& cancel) {
  return error.fault() == Fault::exhausted || error.fault() == Fault::device_lost || cancel.requested();
}

std::string layers_text(const Blueprint& blueprint) {
  return fmt::format("a whole model of {} layers", blueprint.layers);
}

void take_capabilities(CheckedModel& model, const Weights& weights) {
  for (const Capability capability : {Capability::images, Capability::vision, Capability::draft}) {
    if (!weights.has(capability))
      model.off.push_back(std::string(name(capability)) + ": not in the checkpoint");
  }
}

// Loading stacks the experts of a layer, so it wants them in one encoding.
void note_mixed_experts(CheckedModel& model, const Weights& weights) {
  for (const Slot& slot : weights.slots()) {
    for (std::int32_t e = 1; e < slot.matrices && weights.find(slot.role, slot.layer) != nullptr; ++e) {
      const MatrixSource &first = weights.at(slot.role, slot.layer),
                         &m = weights.at(slot.role, slot.layer, e);
      if (m.encoding == first.encoding) continue;
      model.notes.push_back(m.place + ": " + std::string(name(m.encoding)) +
                            ", where the layer's first expert has " + std::string(name(first.encoding)) +
                            ", is not served yet");
      break;
    }
  }
}

void take_whole(CheckedModel& model, std::unique_ptr<Checkpoint> checkpoint) {
  model.what = layers_text(checkpoint->blueprint);
  model.notes = checkpoint->warnings;
  take_capabilities(model, checkpoint->weights);
  note_mixed_experts(model, checkpoint->weights);
  if (!checkpoint->tokenizer) model.off.push_back("text: no tokenizer");
  model.container = checkpoint->container.get();
  model.weights = &checkpoint->weights;
  model.checkpoint = std::move(checkpoint);
}

// What config.json or the keys say; absent, with a note, of a file of tensors without a config.json.
Result<std::optional<Blueprint>> blueprint_of(const std::string& path, CheckedModel& model) {
  if (model.apart->format() == ContainerFormat::gguf) {
    auto described = describe_gguf(*model.apart);
    if (described.ok()) return std::optional(std::move(described).value().blueprint);
    if (described.error().fault() == Fault::not_found)
      return Error(Fault::corrupt, "no whole model: " + described.error().message());
    return std::move(described).error();
  }
  const std::string config = model_folder_of(path) + "/config.json";
  std::error_code unknown;
  if (!std::filesystem::exists(config, unknown)) {
    if (std::filesystem::is_directory(path, unknown))
      return Error(Fault::corrupt, config + ": it is missing");
    model.notes.push_back("no " + config +
                          ": each tensor is checked by itself, and that a model is whole is not");
    return std::optional<Blueprint>();
  }
  auto blueprint = read_blueprint(TRY(read_file(config, kMaxConfigBytes)));
  if (!blueprint.ok()) return std::move(blueprint).error().within(config);
  return std::optional(std::move(blueprint).value());
}

// What keeps the tensors from being a model, fault by fault. `whole`: why the model as a whole did not open.
Result<void> find_faults(const std::string& path, const Error& whole, const Cancel& cancel,
                         CheckedModel& model) {
  auto blueprint = blueprint_of(path, model);
  if (!blueprint.ok()) {
    if (outside(blueprint.error(), cancel)) return std::move(blueprint).error();
    model.findings.push_back(blueprint.error().message());
    return {};
  }
  if (!blueprint.value()) {
    const std::vector<std::string> faults = faults_of_scales(*model.apart);
    model.findings.insert(model.findings.end(), faults.begin(), faults.end());
    return {};
  }
  model.what = layers_text(*blueprint.value());
  std::vector<std::string> faults;
  auto weights =
      assemble(*model.apart, *blueprint.value(), {.scan = false, .cancel = &cancel, .faults = &faults});
  if (!weights.ok() && outside(weights.error(), cancel)) return std::move(weights).error();
  if (weights.ok()) {
    model.assembled.emplace(std::move(weights).value());
    model.weights = &*model.assembled;
    take_capabilities(model, *model.weights);
    faults = {whole.message()};
  } else if (faults.empty()) {
    faults = {weights.error().message()};
  }
  model.findings.insert(model.findings.end(), faults.begin(), faults.end());
  return {};
}

}  // namespace

Result<std::unique_ptr<CheckedModel>> check_model(const std::string& path, const Cancel& cancel) {
  auto model = std::make_unique<CheckedModel>();
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown))
    return Error(Fault::not_found, path + ": no such file or directory");
  auto opened = Checkpoint::open(path, &cancel);
  if (opened.ok()) {
    take_whole(*model, std::move(opened).value());
    return model;
  }
  if (outside(opened.error(), cancel)) return std::move(opened).error();
  model->what = "tensors";
  auto container = open_container(path);
  if (!container.ok()) {
    if (outside(container.error(), cancel)) return std::move(container).error();
    model->findings.push_back(container.error().message());
    return model;
  }
  model->apart.emplace(std::move(container).value());
  model->container = &*model->apart;
  TRY(find_faults(path, opened.error(), cancel, *model));
  return model;
}

std::string manifest_folder(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return path;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

std::vector<std::string> files_of_model(const std::string& path, const Container& container) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < container.files(); ++i)
    names.push_back(std::filesystem::path(container.file_path(i)).filename().string());
  if (container.format() == ContainerFormat::gguf) return names;
  for (const char* name :
       {"model.safetensors.index.json", "config.json", "generation_config.json", "tokenizer.json",
        "tokenizer_config.json", "special_tokens_map.json", "engram_token_map.json", "chat_template.jinja"}) {
    std::error_code unknown;
    if (std::filesystem::is_regular_file(manifest_folder(path) + "/" + name, unknown)) names.push_back(name);
  }
  return names;
}

}  // namespace manyspan::app
