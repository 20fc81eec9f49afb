#include "tests/support/container_copies.h"

#include <filesystem>
#include <fstream>
#include <map>

#include "convert/convert.h"
#include "engine/gguf_trial.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

namespace fs = std::filesystem;

// A tensor under another name, its bytes borrowed or, where experts were merged, its own.
struct Tensor {
  StoredType type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};
using Tensors = std::map<std::string, Tensor>;

Tensors tensors_of(const Container& container) {
  Tensors tensors;
  for (const StoredTensor& t : container.tensors()) {
    const Bytes bytes = container.bytes(t);
    tensors[t.name] = {t.type, t.shape, {bytes.begin(), bytes.end()}};
  }
  return tensors;
}

void write(const std::string& path, const Tensors& tensors) {
  std::vector<TensorToWrite> list;
  for (const auto& [name, t] : tensors) list.push_back({name, t.type, t.shape, t.data});
  CHECK(write_safetensors(path, list).ok(), "a copy that can be written");
}

// A new folder with the files that stand beside the weights.
std::string folder_beside(const std::string& model, const std::string& into, const std::string& name) {
  const std::string folder = into + "/" + name;
  fs::create_directories(folder);
  for (const char* file :
       {"config.json", "tokenizer.json", "generation_config.json", "engram_token_map.json"}) {
    if (fs::exists(fs::path(model) / file)) fs::copy(fs::path(model) / file, fs::path(folder) / file);
  }
  return folder;
}

// In three files with an index. Neighbours in the order of names are in different files, so that a weight and its scale
// are as well.
void write_sharded(const std::string& folder, const Tensors& tensors) {
  constexpr std::size_t kShards = 3;
  Tensors shards[kShards];
  Json map = Json::Object{};
  std::size_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t shard = at++ % kShards;
    shards[shard][name] = tensor;
    map.set(name, "model-0000" + std::to_string(shard + 1) + "-of-00003.safetensors");
  }
  for (std::size_t s = 0; s < kShards; ++s)
    write(folder + "/model-0000" + std::to_string(s + 1) + "-of-00003.safetensors", shards[s]);
  Json index = Json::Object{};
  index.set("weight_map", map);
  std::ofstream(folder + "/model.safetensors.index.json") << compact_json(index);
}

std::string with(std::string name, const std::string& from, const std::string& to) {
  const std::size_t at = name.find(from);
  return at == std::string::npos ? name : name.replace(at, from.size(), to);
}

// The trunk's names after `space`, in the words of training code. The longest namespace leaves the head outside its
// second half.
Tensors in_namespace(const Tensors& tensors, const std::string& space) {
  Tensors other;
  for (const auto& [name, tensor] : tensors) {
    const bool outside = name.starts_with("vision.") || name.starts_with("aligner.") ||
                         name.starts_with("image_") || name.starts_with("mtp.");
    std::string spelled = with(name, "embed.weight", "embed_tokens.weight");
    if (name != "embed.weight") spelled = name == "head.weight" ? "lm_head.weight" : name;
    const bool half = spelled == "lm_head.weight" && space == "language_model.model.";
    other[(outside ? "" : half ? "language_model." : space) + spelled] = tensor;
  }
  return other;
}

// Every layer's experts as one tensor a projection; `other`: in the words of the second spelling.
Tensors merged(const Tensors& tensors, std::int32_t experts, bool other) {
  const std::map<std::string, std::string> kWords = {
      {"w1", "gate_proj"}, {"w2", "down_proj"}, {"w3", "up_proj"}};
  Tensors all;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t at = name.find(".ffn.experts.");
    if (at == std::string::npos || !name.starts_with("layers.")) {
      all[name] = tensor;
      continue;
    }
    const std::string layer = name.substr(0, at), rest = name.substr(at + 13);
    if (!rest.starts_with("0.")) continue;
    const std::string tail = rest.substr(2);  // "w1.weight"
    Tensor whole{tensor.type, tensor.shape, {}};
    whole.shape.insert(whole.shape.begin(), experts);
    for (std::int32_t e = 0; e < experts; ++e) {
      const Tensor& one = tensors.at(layer + ".ffn.experts." + std::to_string(e) + "." + tail);
      whole.data.insert(whole.data.end(), one.data.begin(), one.data.end());
    }
    const std::string word = tail.substr(0, 2), kind = with(tail.substr(3), "scale", "scales");
    all[other ? layer + ".ffn.switch_mlp." + kWords.at(word) + "." + kind
              : layer + ".ffn.experts." + word + "." + tail.substr(3)] = std::move(whole);
  }
  return all;
}

}  // namespace

std::vector<ContainerCopy> safetensors_copies(const std::string& model, const std::string& into) {
  const Checkpoint& original = checkpoint(model);
  const Tensors tensors = tensors_of(*original.container);
  std::vector<ContainerCopy> copies;
  const auto fresh = [&](const std::string& what) {
    copies.push_back({what, folder_beside(model, into, "s" + std::to_string(copies.size()))});
    return copies.back().path;
  };
  write(fresh("one file") + "/model.safetensors", tensors);
  copies.push_back({"one file by its own name", copies.back().path + "/model.safetensors"});
  write_sharded(fresh("shards with an index"), tensors);
  for (const char* space : {"model.", "language_model.", "language_model.model."})
    write(fresh(std::string("names after ") + space) + "/model.safetensors", in_namespace(tensors, space));
  for (const bool other : {false, true}) {
    write(
        fresh(other ? "experts merged as switch_mlp" : "experts merged as w1, w2, w3") + "/model.safetensors",
        merged(tensors, original.blueprint.experts, other));
  }
  return copies;
}

std::vector<ContainerCopy> gguf_copies(const std::string& model, const std::string& into) {
  const Checkpoint& original = checkpoint(model);
  std::vector<ContainerCopy> copies;
  for (const bool second : {false, true}) {
    const std::string family = second ? "config.json's keys" : "llama.cpp's keys", stem = second ? "b" : "a";
    for (const std::uint16_t parts : {std::uint16_t{1}, std::uint16_t{3}}) {
      copies.push_back(
          {family + (parts == 1 ? "" : ", in three parts"),
           write_as_gguf(model, original, into + "/" + stem + std::to_string(parts), second, parts)});
    }
  }
  // Out of a GGUF and into one of the other family.
  const auto there = Checkpoint::open(copies.front().path).value();
  copies.push_back(
      {"from one family to the other",
       GgufCopy(there->weights, true).write(into + "/back", gguf_keys_of(model, original, true))});
  return copies;
}

std::vector<ContainerCopy> converted_copies(const std::string& model, const std::string& into) {
  std::vector<ContainerCopy> copies;
  const auto add = [&](const std::string& what, const std::string& from, const std::string& to,
                       std::uint64_t shard_bytes) {
    const auto report = convert(from, into + "/" + to, {.shard_bytes = shard_bytes});
    CHECK(report.ok() && report.value().finished, "a model that can be converted");
    const bool gguf = to.ends_with(".gguf");
    copies.push_back({what, gguf ? report.value().files[0] : into + "/" + to});
    return report.value();
  };
  const std::uint64_t bytes = add("converted to a GGUF", model, "one.gguf", 0).bytes;
  const std::string one = copies[0].path;
  const auto split = add("converted to a split set", model, "three.gguf", bytes * 2 / 5);
  CHECK(split.files.size() == 3, "a set of three");
  add("from the GGUF back", one, "back", 0);
  add("from the set back, in shards", copies[1].path, "shards", bytes * 2 / 5);
  add("from that to a GGUF once more", copies[3].path, "again.gguf", 0);
  add("safetensors written again", model, "same", bytes / 2);
  return copies;
}

}  // namespace manyspan::test
