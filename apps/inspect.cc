#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/machine_facts.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "base/file.h"
#include "container/container.h"
#include "engine/gguf_description.h"
#include "spec/blueprint.h"
#include "spec/layers.h"
#include "weights/assemble.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{16} << 20;

// What the keys of a GGUF say, or config.json, where PATH is a folder that has one.
struct Layers {
  std::vector<std::string> lines;
  std::vector<std::string> warnings;
  std::vector<std::string> off;                // capabilities that its tensors do not give
  std::string source;                          // of the warnings
  std::string family;                          // of a GGUF's keys
  std::vector<std::string> weight_warnings{};  // of encodings that are coarse for their role
};

// Of a complete checkpoint; what is missing in another is for the engine to say.
void take_weights(const Container& container, const Blueprint& blueprint, Layers& layers) {
  const Result<Weights> weights = assemble(container, blueprint, {.scan = false});
  if (!weights.ok()) return;
  layers.weight_warnings = weights.value().warnings();
  for (const Capability capability : {Capability::images, Capability::vision, Capability::draft}) {
    if (!weights.value().has(capability))
      layers.off.push_back(std::string(name(capability)) + ": not in the checkpoint");
  }
}

Result<Layers> layers_of_keys(const Container& container) {
  Result<GgufDescription> described = describe_gguf(container);
  if (!described.ok() && described.error().fault() == Fault::not_found) {
    return Layers{{}, {"no whole model: " + described.error().message()}, {}, "keys", ""};
  }
  const GgufDescription said = TRY(of_file(std::move(described)));
  Layers layers{describe(schedule_of(said.blueprint)), said.warnings, {}, "keys", said.family};
  if (!said.tokenizer) layers.off.push_back("text: no tokenizer in its keys");
  take_weights(container, said.blueprint, layers);
  return layers;
}

Result<Layers> layers_of(const std::string& path, const Container& container) {
  if (container.format() == ContainerFormat::gguf) return layers_of_keys(container);
  const std::string config = path + "/config.json";
  std::error_code absent;
  if (!std::filesystem::is_directory(path, absent) || !std::filesystem::exists(config, absent))
    return Layers{};
  Result<Blueprint> blueprint = read_blueprint(TRY(of_file(read_file(config, kMaxConfigBytes))));
  if (!blueprint.ok()) return of_file(std::move(blueprint).error()).within(config);
  Layers layers{describe(schedule_of(blueprint.value())), blueprint.value().warnings, {}, "config.json", ""};
  take_weights(container, blueprint.value(), layers);
  return layers;
}

std::uint64_t bytes_of(const Container& container) {
  std::uint64_t sum = 0;
  for (const StoredTensor& tensor : container.tensors()) sum += tensor.bytes;
  return sum;
}

std::string as_text(const Container& container, const Layers& layers) {
  std::string text;
  std::size_t longest = 0;
  for (const StoredTensor& tensor : container.tensors()) longest = std::max(longest, tensor.name.size());
  for (const StoredTensor& tensor : container.tensors()) {
    text += fmt::format("{:<{}}  {:<8}  {:>12}  [{}]\n", one_line(tensor.name), longest, name(tensor.type),
                        tensor.bytes, fmt::join(tensor.shape, ", "));
  }
  for (std::size_t file = 0; file < container.files(); ++file) {
    text += fmt::format("file {}\n", one_line(container.file_path(file)));
    for (const JsonMember& entry : *container.metadata(file).object()) {
      const std::string* plain = entry.value.string();
      const std::string value = plain != nullptr ? *plain : compact_json(entry.value);
      text += fmt::format("  {}: {}\n", one_line(entry.key), one_line(value));
    }
  }
  for (const std::string& line : layers.lines) text += one_line(line) + "\n";
  for (const std::string& warning : layers.warnings)
    text += fmt::format("{}: {}\n", layers.source, one_line(warning));
  for (const std::string& warning : layers.weight_warnings)
    text += fmt::format("weights: {}\n", one_line(warning));
  if (!layers.family.empty()) text += fmt::format("family: {}\n", layers.family);
  for (const std::string& off : layers.off) text += fmt::format("off: {}\n", off);
  return text + fmt::format("{} tensors, {} files, {}\n", container.tensors().size(), container.files(),
                            shown_bytes(static_cast<std::int64_t>(bytes_of(container))));
}

nlohmann::ordered_json as_json(const Container& container, const Layers& layers) {
  nlohmann::ordered_json document = {{"path", container.path()},
                                     {"bytes", bytes_of(container)},
                                     {"tensors", nlohmann::ordered_json::array()},
                                     {"files", nlohmann::ordered_json::array()},
                                     {"layers", layers.lines},
                                     {"warnings", layers.warnings},
                                     {"weight_warnings", layers.weight_warnings},
                                     {"capabilities_off", layers.off}};
  if (!layers.family.empty()) document["family"] = layers.family;
  for (const StoredTensor& tensor : container.tensors()) {
    document["tensors"].push_back({{"name", tensor.name},
                                   {"encoding", name(tensor.type)},
                                   {"shape", tensor.shape},
                                   {"bytes", tensor.bytes},
                                   {"file", tensor.file}});
  }
  for (std::size_t file = 0; file < container.files(); ++file) {
    const auto metadata =
        nlohmann::ordered_json::parse(compact_json(container.metadata(file)), nullptr, false);
    document["files"].push_back({{"path", container.file_path(file)}, {"metadata", metadata}});
  }
  return document;
}

class Inspect final : public Command {
 public:
  About about() const override {
    return {"inspect", "Show what a file or a model's folder holds: tensors, metadata, layers",
            "  manyspan inspect models/first-light"};
  }

  void declare(CLI::App& options) override {
    options.add_option("path", path_, "A model's folder, an index, a .safetensors file or a .gguf")
        ->type_name("PATH");
  }

  Result<void> run(const Common& common) override {
    if (path_.empty()) return misuse("inspect: name a file or a folder");
    const Container container = TRY(of_file(open_container(path_)));
    const Layers layers = TRY(layers_of(path_, container));
    return write_output(common.json ? json_text(as_json(container, layers)) : as_text(container, layers));
  }

 private:
  std::string path_;
};

}  // namespace

std::unique_ptr<Command> inspect_command() { return std::make_unique<Inspect>(); }

}  // namespace manyspan::app
