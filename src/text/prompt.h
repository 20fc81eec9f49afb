// prompt — a chat prompt as it is built: control tokens of the template, and the text between them.
//
// Text never becomes a control token, whatever it spells: a user can quote every token and change no turn.
// Neighbouring text is one segment, so that pieces and merges cross from the template's words to a message's.
// Specification: prompt encoding, section 7.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/json.h"
#include "base/result.h"
#include "text/tokenizer.h"

namespace manyspan::text {

struct PromptSegment {
  bool control;
  std::string text;
};

// Part of a message: text, or the place of an image.
struct ContentPiece {
  std::string text;
  Json image;  // {"type": "image", and its url, source or data}; null for text
};
using Content = std::vector<ContentPiece>;

class Prompt {
 public:
  // What the model writes next, which is where the parser of its output has to begin.
  enum class Start { answer, reasoning, calls };

  void control(std::string_view token);
  void text(std::string_view text);
  void content(const Content& content);
  // Text of the template in which the reasoning and markup tokens count.
  void with_tokens(std::string_view text);
  // Says that the model is to go on inside a block of calls.
  void begin_calls();

  const std::vector<PromptSegment>& segments() const { return segments_; }
  const std::vector<Json>& images() const { return images_; }  // one for each placeholder, in order
  Start start() const { return start_; }
  std::string joined() const;

 private:
  std::vector<PromptSegment> segments_;
  std::vector<Json> images_;
  Start start_ = Start::answer;
};

// Errors     unsupported where the tokenizer lacks a control token of the prompt
Result<std::vector<TokenId>> prompt_ids(const Prompt& prompt, const Tokenizer& tokenizer);

}  // namespace manyspan::text
