#include "text/content_read.h"

#include <iterator>
#include <string>
#include <utility>

#include "text/chat_read.h"
#include "text/control.h"

namespace manyspan::text {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

Result<std::string> kind_of(const Json& block) {
  const Json* type = block.find("type");
  if (!type || !type->string()) return invalid("a content block has no type");
  return *type->string();
}

Result<Content> read_image(const Json& block, const std::string& kind, const ContentRules& rules) {
  if (!rules.may_hold_images) return invalid("an image may only stand in a user message or a tool result");
  Json record;
  record.set("type", "image");
  if (kind == "image_url") {
    const Json* value = given(block, "image_url");
    const Json* url = value && value->object() ? given(*value, "url") : value;
    if (!url || !url->string() || url->string()->empty()) return invalid("an image_url block has no url");
    record.set("url", *url);
    return Content{{"", std::move(record)}};
  }
  for (const char* key : {"source", "url", "data"}) {
    const Json* source = given(block, key);
    if (!source) continue;
    record.set(key, *source);
    return Content{{"", std::move(record)}};
  }
  return invalid("an image block has no source, url or data");
}

bool is_image(const std::string& kind) { return kind == "image" || kind == "image_url"; }

}  // namespace

Result<std::string> read_text(const Json* text, const ContentRules& rules) {
  if (!text || text->is_null()) {
    if (!rules.null_is_empty) return invalid("null is no text");
    return std::string();
  }
  if (!text->string()) return invalid("expected text, found " + std::string(text->kind_name()));
  if (!rules.may_quote_image && text->string()->find(kImage) != std::string::npos) {
    return invalid("the text holds the image placeholder");
  }
  return *text->string();
}

Result<Content> read_content(const Json* content, const ContentRules& rules, Unsupported unsupported) {
  if (!content || !content->array()) return Content{{TRY(read_text(content, rules)), Json()}};
  Content all;
  bool first = true;
  for (const Json& block : *content->array()) {
    const std::string kind = TRY(kind_of(block));
    Content one;
    if (kind == "text") {
      one = {{TRY(read_text(block.find("text"), rules)), Json()}};
    } else if (is_image(kind)) {
      one = TRY(read_image(block, kind, rules));
    } else if (unsupported == Unsupported::named) {
      one = {{"[Unsupported " + kind + "]", Json()}};
    } else {
      continue;
    }
    if (!std::exchange(first, false)) all.push_back({"\n\n", Json()});
    std::move(one.begin(), one.end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<Block>> read_blocks(const Json* content, const ContentRules& rules) {
  std::vector<Block> blocks;
  if (!content || !content->array()) {
    blocks.push_back({false, "", {{TRY(read_text(content, rules)), Json()}}});
    return blocks;
  }
  for (const Json& block : *content->array()) {
    const std::string kind = TRY(kind_of(block));
    if (kind == "text") {
      blocks.push_back({false, "", {{TRY(read_text(block.find("text"), rules)), Json()}}});
    } else if (is_image(kind)) {
      blocks.push_back({false, "", TRY(read_image(block, kind, rules))});
    } else if (kind == "tool_result") {
      const Json* id = given(block, "tool_use_id");
      if (!id) id = given(block, "tool_call_id");
      ContentRules inside = rules;
      inside.null_is_empty = true;
      blocks.push_back({true, id && id->string() ? *id->string() : "",
                        TRY(read_content(block.find("content"), inside, Unsupported::named))});
    } else {
      blocks.push_back({false, "", {{"[Unsupported " + kind + "]", Json()}}});
    }
  }
  return blocks;
}

}  // namespace manyspan::text
