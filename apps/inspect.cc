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
#include "spec/blueprint.h"
#include "spec/layers.h"
#include "weights/assemble.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{16} << 20;

// What config.json says, where PATH is a folder that has one.
struct Layers {
  std::vector<std::string> lines;
  std::vector<std::string> warnings;
  std::vector<std::string> off;  // capabilities that its tensors do not give
};

// Of a complete checkpoint; what is missing in another is for the engine to say.
std::vector<std::string> missing_in(const Container& container, const Blueprint& blueprint) {
  std::vector<std::string> missing;
  const Result<Weights> weights = assemble(container, blueprint, {.scan = false});
  if (!weights.ok()) return missing;
  for (const Capability capability : {Capability::images, Capability::vision, Capability::draft}) {
    if (!weights.value().has(capability)) {
      missing.push_back(std::string(name(capability)) + ": not in the checkpoint");
    }
  }
  return missing;
}

Result<Layers> layers_of(const std::string& path, const Container& container) {
  const std::string config = path + "/config.json";
  std::error_code absent;
  if (!std::filesystem::is_directory(path, absent) || !std::filesystem::exists(config, absent))
    return Layers{};
  Result<Blueprint> blueprint = read_blueprint(TRY(of_file(read_file(config, kMaxConfigBytes))));
  if (!blueprint.ok()) return of_file(std::move(blueprint).error()).within(config);
  return Layers{describe(schedule_of(blueprint.value())), blueprint.value().warnings,
                missing_in(container, blueprint.value())};
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
    text += fmt::format("config.json: {}\n", one_line(warning));
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
                                     {"capabilities_off", layers.off}};
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
    options.add_option("path", path_, "A model's folder, an index, or a .safetensors file")
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
