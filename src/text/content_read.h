// content_read — the `content` of a message: text, or a list of blocks with text, images and tool results.
//
// Specification: prompt encoding, section 2 step 1.
//
// Errors     invalid: content of another kind, an image without a source, an image where none may be; when
//            strict, null as a user's text, and text that spells the image placeholder
#pragma once

#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "text/chat.h"

namespace manyspan::text {

struct ContentRules {
  bool null_is_empty;
  bool may_quote_image;  // text that spells the placeholder is text
  bool may_hold_images;
};

// Each block of a user's content as one.
Result<std::vector<Block>> read_blocks(const Json* content, const ContentRules& rules);

// The text and the images of any other content, with blank lines between; `unsupported` says what becomes of
// other blocks.
enum class Unsupported { named, left_out };
Result<Content> read_content(const Json* content, const ContentRules& rules, Unsupported unsupported);

// A plain text that must keep the rules.
Result<std::string> read_text(const Json* text, const ContentRules& rules);

}  // namespace manyspan::text
