#include "spec/gguf_blueprint.h"

#include <algorithm>
#include <utility>

#include "spec/gguf_config.h"

namespace manyspan {
namespace {

constexpr std::size_t kMostNamed = 40, kMostWarnings = 32;

// The released model's, which a file that says nothing of them has.
constexpr std::int64_t kNgrams = 4, kHeads = 8, kWidth = 256, kRow264Bytes = 264;

// What is wrong first, then what is not there.
Error all_of(Faults faults) {
  const auto wrong = [](const std::string& fault) { return fault.find(": missing") == std::string::npos; };
  const bool any_wrong = std::stable_partition(faults.begin(), faults.end(), wrong) != faults.begin();
  std::string message;
  if (faults.size() > 1) message = std::to_string(faults.size()) + " faults: ";
  for (std::size_t i = 0; i < std::min(faults.size(), kMostNamed); ++i)
    message += (i == 0 ? "" : "; ") + faults[i];
  if (faults.size() > kMostNamed) message += "; and " + std::to_string(faults.size() - kMostNamed) + " more";
  return Error(any_wrong ? Fault::invalid : Fault::not_found, std::move(message));
}

// The tokenizer's special tokens, by config.json's names. The config's own must be the same.
void add_special_tokens(GgufFields& fields, Json& config, Faults& faults) {
  constexpr Spelling kTokens[] = {{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                  {"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                  {"pad_token_id", "tokenizer.ggml.padding_token_id"}};
  for (const Spelling& s : kTokens) {
    const Json* said = fields.outside(s.other);
    if (said == nullptr) continue;
    const Json* known = config.find(s.official);
    if (known != nullptr && !known->is_null() && !says_same(*said, *known)) {
      faults.push_back(std::string(s.other) + ": " + shown(compact_json(*said)) +
                       ", but deepseek41.config has " + shown(compact_json(*known)));
      continue;
    }
    config.set(s.official, *said);
  }
}

bool is_second_family(GgufFields& fields) {
  return fields.outside("deepseek41.num_hidden_layers") != nullptr ||
         fields.outside("deepseek41.config") != nullptr;
}

}  // namespace

void complete_engram(const GgufTensors& tensors, std::int64_t layers, bool row264,
                     std::optional<std::int64_t> token_classes, GgufEngram& e) {
  const std::vector<std::int64_t> found = tensors.blocks_with("engram_embd.weight", layers);
  if (e.layers.empty()) e.layers = found;
  const GgufTensor* table = found.empty() ? nullptr : tensors.in_block(found[0], "engram_embd.weight");
  if (!e.head_dim) {
    const std::int64_t width = table == nullptr ? kWidth : cols_of(*table);
    e.head_dim = row264 && width == kRow264Bytes ? kWidth : width;
  }
  if (!e.max_ngram) e.max_ngram = kNgrams;
  if (!e.heads) e.heads = kHeads;
  if (e.table_rows.empty()) {
    for (const std::int64_t l : e.layers) {
      const GgufTensor* rows = tensors.in_block(l, "engram_embd.weight");
      if (rows != nullptr) e.table_rows.push_back(rows_of(*rows));
    }
  }
  if (!e.token_classes) e.token_classes = token_classes;
  if (!e.token_classes && e.layers.empty()) e.token_classes = 1;  // nothing asks for it
}

Result<void> check_gguf_architecture(const Json& metadata) {
  constexpr std::string_view kKey = "general.architecture", kOurs = "deepseek41";
  const std::string key(kKey);
  const Json* said = metadata.find(kKey);
  if (said == nullptr)
    return Error(Fault::corrupt, key + " is missing; this program runs DeepSeek-V4.1 (\"deepseek41\")");
  if (said->string() == nullptr)
    return Error(Fault::corrupt, key + " is " + std::string(said->kind_name()) + ", not a text");
  const std::string& is = *said->string();
  if (is == kOurs) return {};
  std::string hint = "this program runs DeepSeek-V4.1 (\"deepseek41\")";
  const auto has_engram = [](const JsonMember& m) { return m.key.starts_with("deepseek4.engram."); };
  if (is == "deepseek41-dspark") {
    hint = "this file holds the draft model alone; open the model's own file";
  } else if (is == "clip" || is == "mmproj") {
    hint = "this file holds a vision model alone; open the text model's file";
  } else if (is == "deepseek4" &&
             std::any_of(metadata.object()->begin(), metadata.object()->end(), has_engram)) {
    hint =
        "a fork wrote this DeepSeek-V4.1 file under V4's name, with keys of its own; make it again with a "
        "program that writes \"deepseek41\"";
  } else if (is == "deepseek4") {
    hint = "this is a DeepSeek-V4 model, not V4.1";
  }
  return Error(Fault::unsupported, key + " is \"" + shown(is) + "\"; " + hint);
}

Result<GgufModel> read_gguf_blueprint(const Json& metadata, std::span<const GgufTensor> tensors,
                                      std::optional<std::int64_t> token_classes) {
  TRY(check_gguf_architecture(metadata));
  Faults faults;
  GgufFields fields(metadata, faults);
  GgufEngram engram;
  const GgufTensors listed(tensors);
  const bool second = is_second_family(fields);
  Json config = second ? config_of_repeated_keys(fields, listed, engram, token_classes)
                       : config_of_own_keys(fields, listed, engram, token_classes);
  add_special_tokens(fields, config, faults);
  const Json* pad = config.find("pad_token_id");
  const Json* nested = config.find("text_config");
  Json text = nested == nullptr ? config : *nested;
  add_engram(engram, pad == nullptr ? std::nullopt : pad->integer(), text);
  if (nested == nullptr) {
    config = std::move(text);
  } else {
    config.set("text_config", std::move(text));
  }
  if (!faults.empty()) return all_of(std::move(faults));

  auto read = read_blueprint(compact_json(config));
  if (!read.ok()) return std::move(read).error().within("the keys, by config.json's names");
  TRY(check_gguf_engram(engram, read.value()));
  GgufModel model{std::move(read).value(), std::move(engram.token_map),
                  fields.outside("deepseek41.engram.encoding") != nullptr, second};
  // How tensors are stored is the file's own matter: each says its type.
  model.blueprint.quantization = Quantization{};
  model.blueprint.quantization.method = "none";
  for (const std::string& key : fields.unread()) {
    if (model.blueprint.warnings.size() >= kMostWarnings) break;
    model.blueprint.warnings.push_back(shown(key) + " is not known and is ignored");
  }
  return model;
}

}  // namespace manyspan
