#include "engine/gguf_description.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "spec/gguf_blueprint.h"
#include "text/engram_tokens.h"
#include "text/tokenizer_gguf.h"

namespace manyspan {
namespace {

constexpr char kMapKey[] = "deepseek41.engram.token_map";

std::vector<GgufTensor> listed(const Container& container) {
  std::vector<GgufTensor> tensors;
  tensors.reserve(container.tensors().size());
  for (const StoredTensor& t : container.tensors()) tensors.push_back({t.name, t.shape});
  return tensors;
}

// The file's map, checked against the tokenizer's where there are both: a token that only one of them knows is no
// disagreement.
Result<void> check_agreement(const std::vector<std::int32_t>& map, const std::vector<std::int32_t>& derived) {
  const std::size_t both = std::min(map.size(), derived.size());
  for (std::size_t t = 0; t < both; ++t) {
    if (map[t] == derived[t]) continue;
    return Error(Fault::corrupt, std::string(kMapKey) + ": token " + std::to_string(t) + " has class " +
                                     std::to_string(map[t]) + ", its tokenizer gives " +
                                     std::to_string(derived[t]));
  }
  return {};
}

Result<GgufDescription> describe(const Container& container, const std::string& name) {
  const Json& keys = container.metadata();
  TRY(check_gguf_architecture(keys));
  text::GgufTokenizer read = TRY(text::read_gguf_tokenizer(keys, name));
  std::vector<std::int32_t> derived;
  std::optional<std::int64_t> classes;
  if (read.tokenizer) {
    text::EngramTokens tokens = text::engram_tokens(*read.tokenizer);
    classes = static_cast<std::int64_t>(tokens.distinct);
    derived = std::move(tokens.map);
  }
  const std::vector<GgufTensor> tensors = listed(container);
  GgufModel model = TRY(read_gguf_blueprint(keys, tensors, classes));
  const Blueprint& b = model.blueprint;
  if (read.tokenizer && read.tokenizer->size() > static_cast<std::size_t>(b.vocabulary)) {
    return Error(Fault::corrupt, "tokenizer.ggml.tokens: " + std::to_string(read.tokenizer->size()) +
                                     " tokens, but the model's vocabulary has " +
                                     std::to_string(b.vocabulary));
  }
  std::optional<EngramMap> map;
  if (!b.engram.layers.empty()) {
    if (model.token_map.empty() && derived.empty()) {
      return Error(Fault::not_found, "the Engram layers need " + std::string(kMapKey) +
                                         " or tokenizer.ggml.tokens; neither key is there");
    }
    TRY(check_agreement(model.token_map, derived));
    const bool brought = !model.token_map.empty();
    auto made = EngramMap::create(b, brought ? std::move(model.token_map) : std::move(derived));
    if (!made.ok()) return std::move(made).error().within(brought ? kMapKey : "tokenizer.ggml.tokens");
    map = std::move(made).value();
  }
  std::vector<std::string> warnings = b.warnings;
  warnings.insert(warnings.end(), read.warnings.begin(), read.warnings.end());
  return GgufDescription{std::move(model.blueprint), std::move(read.tokenizer), std::move(map),
                         model.second_family ? "keys by config.json's names" : "keys by llama.cpp's names",
                         std::move(warnings)};
}

}  // namespace

Result<GgufDescription> describe_gguf(const Container& container) {
  CHECK(container.format() == ContainerFormat::gguf, "a GGUF's keys");
  const std::string& name = container.file_path(0);
  auto described = describe(container, name);
  if (described.ok() || described.error().message().starts_with(name)) return described;
  return std::move(described).error().within(name);
}

}  // namespace manyspan
