#include "text/prompt.h"

#include <algorithm>

#include "text/control.h"

namespace manyspan::text {

void Prompt::control(std::string_view token) {
  segments_.push_back({true, std::string(token)});
  if (token == kThink) start_ = Start::reasoning;
  if (token == kThinkEnd || token == kEos) start_ = Start::answer;
}

void Prompt::text(std::string_view text) {
  if (text.empty()) return;
  if (segments_.empty() || segments_.back().control) segments_.push_back({false, {}});
  segments_.back().text += text;
}

void Prompt::content(const Content& content) {
  for (const ContentPiece& piece : content) {
    if (piece.image.is_null()) {
      text(piece.text);
    } else {
      control(kImage);
      images_.push_back(piece.image);
    }
  }
}

void Prompt::with_tokens(std::string_view words) {
  while (!words.empty()) {
    std::size_t end = words.size();
    std::string_view found;
    for (const std::string_view token : {kThink, kThinkEnd, kDsml}) {
      const std::size_t at = words.find(token);
      if (at >= end) continue;
      end = at;
      found = token;
    }
    text(words.substr(0, end));
    if (!found.empty()) control(found);
    words.remove_prefix(end + found.size());
  }
}

void Prompt::begin_calls() {
  with_tokens("\n\n<｜DSML｜ calls>\n");
  start_ = Start::calls;
}

std::string Prompt::joined() const {
  std::string whole;
  for (const PromptSegment& segment : segments_) whole += segment.text;
  return whole;
}

Result<std::vector<TokenId>> prompt_ids(const Prompt& prompt, const Tokenizer& tokenizer) {
  std::vector<TextRun> runs;
  for (const PromptSegment& segment : prompt.segments()) {
    if (segment.control && !tokenizer.control(segment.text)) {
      return Error(Fault::unsupported, "the tokenizer has no token " + segment.text);
    }
    runs.push_back({segment.text, segment.control});
  }
  return tokenizer.encode(runs);
}

}  // namespace manyspan::text
