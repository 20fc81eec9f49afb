// Containers of weights: what opens lies inside its file, and says the same to whoever asks again.
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include "base/temporary_folder.h"
#include "base/utf8.h"
#include "container/gguf.h"
#include "container/safetensors.h"
#include "container/safetensors_write.h"
#include "container/shard_index.h"
#include "container/shards.h"
#include "engine/gguf_description.h"
#include "spec/layers.h"
#include "tests/fuzz/described.h"
#include "tests/fuzz/made_file.h"
#include "tests/fuzz/target.h"
#include "weights/assemble.h"

namespace manyspan::fuzz {
namespace {

using Parts = std::vector<Container::Part>;

// The bytes that type and shape say; the format's own reader has the same sum to do.
std::optional<std::uint64_t> bytes_of_shape(const StoredTensor& tensor) {
  __extension__ unsigned __int128 elements = 1;
  for (const std::int64_t dim : tensor.shape) {
    if (dim < 0) return std::nullopt;
    elements *= static_cast<std::uint64_t>(dim);
    if (elements > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  }
  const StoredBlock block = block_of(tensor.type);
  if (elements % static_cast<std::uint64_t>(block.elements) != 0) return std::nullopt;
  const auto bytes =
      elements / static_cast<std::uint64_t>(block.elements) * static_cast<std::uint64_t>(block.bytes);
  if (bytes > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

Outcome ranges_hold(const Container& container, std::uint64_t file_bytes) {
  std::uint64_t sum = 0;
  std::string_view before;
  for (const StoredTensor& tensor : container.tensors()) {
    HOLD(!tensor.name.empty() && is_valid_utf8(tensor.name), "a tensor's name is text");
    HOLD(before < tensor.name, "names ascend, each once");
    before = tensor.name;
    HOLD(tensor.offset <= file_bytes && tensor.bytes <= file_bytes - tensor.offset,
         "a tensor lies inside its file");
    HOLD(bytes_of_shape(tensor) == tensor.bytes, "a tensor has the bytes of its shape: " + described(tensor));
    HOLD(container.find(tensor.name) == &tensor, "a tensor is found by its name");
    HOLD(container.bytes(tensor).size() == tensor.bytes, "a tensor's bytes are mapped");
    std::byte last[1];
    HOLD(tensor.bytes == 0 || container.read(tensor, tensor.bytes - 1, last).ok(),
         "a tensor's last byte is read");
    HOLD(!container.read(tensor, tensor.bytes, last).ok(), "nothing is read past a tensor's end");
    sum += tensor.bytes;
  }
  HOLD(sum <= file_bytes, "tensors do not share bytes");
  const std::string metadata = compact_json(container.metadata());
  const Result<Json> again = parse_json(metadata, {.depth = 128, .values = metadata.size() + 1});
  HOLD(container.metadata().object() != nullptr && again.ok(), "metadata are an object of JSON");
  HOLD(compact_json(again.value()) == metadata, "metadata are read again as they were written");
  return {.accepted = true};
}

}  // namespace

Outcome safetensors(std::string_view input) {
  static MadeFile file;
  file.hold_front(input);
  Result<Container::Part> part = read_safetensors(file.path());
  if (!part.ok()) return refused(part.error(), file.path());
  const std::uint64_t bytes = part.value().file.size();
  Parts parts;
  parts.push_back(std::move(part).value());
  const Result<Container> container = Container::join(file.path(), std::move(parts));
  if (!container.ok()) return refused(container.error(), file.path());
  return ranges_hold(container.value(), bytes);
}

Outcome gguf(std::string_view input) {
  static MadeFile file;
  file.hold_front(input);
  Result<Parts> parts = read_gguf_model(file.path());
  if (!parts.ok()) return refused(parts.error(), file.path());
  const std::uint64_t bytes = parts.value().front().file.size();
  const Result<Container> container = Container::join(file.path(), std::move(parts).value());
  if (!container.ok()) return refused(container.error(), file.path());
  if (Outcome outcome = ranges_hold(container.value(), bytes); !outcome.broken.empty()) return outcome;

  const Result<GgufDescription> described = describe_gguf(container.value());
  if (!described.ok()) return refused(described.error(), file.path());
  const GgufDescription& said = described.value();
  if (Outcome outcome = blueprint_holds(said.blueprint); !outcome.broken.empty()) return outcome;
  if (said.tokenizer) {
    if (Outcome outcome = tokenizer_holds(*said.tokenizer, input); !outcome.broken.empty()) return outcome;
  }
  if (said.engram_map) {
    if (Outcome outcome = engram_holds(*said.engram_map, said.blueprint); !outcome.broken.empty())
      return outcome;
  }
  const Result<Weights> weights = assemble(container.value(), said.blueprint, {.scan = false});
  if (!weights.ok()) return refused(weights.error());
  return {.accepted = true};
}

// The index stands beside two shards; whatever it names, nothing else of the disk is looked at.
Outcome shard_index(std::string_view input) {
  static const TemporaryFolder folder;
  static const bool made = [] {
    const std::vector<std::byte> four(4);
    const auto put = [&](const char* name, const char* tensor) {
      return write_safetensors(folder / name, {{tensor, StoredType::f32, {1}, four}}).ok();
    };
    return put("model-00001-of-00002.safetensors", "a") && put("model-00002-of-00002.safetensors", "b");
  }();
  HOLD(made, "the shards are written");
  static MadeFile file;
  static const std::string path = [] {
    const std::string link = folder / kIndexName;
    std::filesystem::create_symlink(file.path(), link);
    return link;
  }();
  file.hold(input);
  const Result<ShardIndex> index = read_shard_index(path);
  if (!index.ok()) return refused(index.error(), path);
  for (const auto& [name, tensors] : index.value()) {
    HOLD(std::filesystem::path(name).filename() == name && name.ends_with(".safetensors"),
         "a shard is a file's plain name");
    HOLD(name.find('\\') == std::string::npos && name.find('\0') == std::string::npos, "of plain letters");
    HOLD(!tensors.empty(), "a shard is named for a tensor");
  }
  Result<Parts> parts = read_indexed_shards(path);
  if (!parts.ok()) return refused(parts.error(), folder.path());
  HOLD(parts.value().size() == index.value().size(), "each shard is opened once");
  const Result<Container> container = Container::join(path, std::move(parts).value());
  if (!container.ok()) return refused(container.error(), folder.path());
  for (const auto& [name, tensors] : index.value()) {
    for (const std::string& tensor : tensors) {
      const StoredTensor* found = container.value().find(tensor);
      HOLD(found != nullptr && container.value().file_path(found->file) == folder / name,
           "a tensor is in the shard that the index names");
    }
  }
  return {.accepted = true};
}

}  // namespace manyspan::fuzz
