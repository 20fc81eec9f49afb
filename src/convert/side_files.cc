// The files of an official folder beside its tensors.
#include <algorithm>
#include <utility>

#include "convert/beside.h"
#include "convert/model_keys.h"
#include "spec/config_text.h"
#include "text/tokenizer_keys.h"

namespace manyspan {
namespace {

Quantization::ExpertDtype expert_dtype(StoredType type) {
  using Dtype = Quantization::ExpertDtype;
  if (type == StoredType::i8 || type == StoredType::u8) return Dtype::fp4;
  return type == StoredType::f8_e4m3 ? Dtype::fp8 : Dtype::bf16;
}

// How the copy's tensors are stored, which is for the tensors themselves to say but for the experts' kind, where they have
// one.
Quantization stored_so(const ConvertPlan& plan) {
  Quantization q;
  q.scales_ue8m0 = true;
  q.block_said = true;
  bool first = true;
  for (const PlannedTensor& t : plan.tensors) {
    const std::string& name = t.outline.name;
    if (name.find(".experts.") == std::string::npos || !name.ends_with(".weight")) continue;
    const auto here = expert_dtype(t.outline.type);
    q.expert_dtype = first || q.expert_dtype == here ? here : Quantization::ExpertDtype::unsaid;
    if (q.expert_dtype == Quantization::ExpertDtype::unsaid) break;
    first = false;
  }
  return q;
}

Blueprint copied(const Blueprint& b, const ConvertPlan& plan) {
  Blueprint copy = b;
  copy.draft.reset();
  copy.vision.reset();
  copy.quantization = stored_so(plan);
  return copy;
}

Json tokenizer_config(const Checkpoint& c) {
  const auto text = [&](std::int32_t id) { return Json(c.tokenizer->bytes_of({id})); };
  const Json& keys = c.container->metadata();
  const auto flag = [&](const char* key) {
    const Json* said = keys.find(key);
    return said != nullptr && said->boolean().value_or(false);
  };
  Json config = Json::Object{};
  config.set("tokenizer_class", "PreTrainedTokenizerFast");
  config.set("bos_token", text(c.blueprint.bos_token));
  config.set("eos_token", text(c.blueprint.eos_token));
  config.set("pad_token", text(c.blueprint.pad_token));
  config.set("unk_token", nullptr);
  config.set("add_bos_token", flag("tokenizer.ggml.add_bos_token"));
  config.set("add_eos_token", flag("tokenizer.ggml.add_eos_token"));
  config.set("clean_up_tokenization_spaces", false);
  config.set("model_max_length", c.blueprint.context);
  const Json* chat = keys.find("tokenizer.chat_template");
  if (chat != nullptr && chat->string() != nullptr) config.set("chat_template", *chat);
  return config;
}

Json token_map(const Checkpoint& c) {
  Json map = Json::Array{};
  for (std::int32_t t = 0; t < c.blueprint.vocabulary; ++t) map.push(c.engram_map->class_of({t}));
  return map;
}

}  // namespace

Result<std::vector<SideFile>> side_files(const Checkpoint& c, const ConvertPlan& plan,
                                         std::vector<std::string>& notes) {
  std::vector<SideFile> files = {{"config.json", config_text(copied(c.blueprint, plan))}};
  bool tokenizer = false;
  if (c.container->format() != ContainerFormat::gguf) {
    for (const char* name : {"tokenizer.json", "tokenizer_config.json"}) {
      auto text = TRY(text_beside(c, name));
      if (!text) continue;
      files.push_back({name, std::move(*text)});
      tokenizer = tokenizer || files.back().name == "tokenizer.json";
    }
  } else if (c.tokenizer) {
    auto json = text::tokenizer_json_of(c.container->metadata(), c.container->file_path(0));
    if (json.ok()) {
      files.push_back({"tokenizer.json", std::move(json).value()});
      files.push_back({"tokenizer_config.json", indented_json(tokenizer_config(c))});
      tokenizer = true;
    } else {
      notes.push_back("no tokenizer.json: " + json.error().message());
    }
  }
  if (auto defaults = TRY(generation_config_of(c)))
    files.push_back({"generation_config.json", std::move(*defaults)});
  // Where there is a tokenizer the classes follow from it.
  if (c.engram_map && !tokenizer)
    files.push_back({"engram_token_map.json", compact_json(token_map(c)) + "\n"});
  return files;
}

}  // namespace manyspan
