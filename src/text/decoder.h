// decoder — token ids to text as they come, holding back what is not yet a whole character.
//
// Whatever the tokens, all pieces together are the lossy text of all bytes, and each piece is valid UTF-8.
// Specification: tokenizer, section 5.
//
// Requires   the tokenizer outlives the decoder
#pragma once

#include <string>

#include "base/ids.h"
#include "text/tokenizer.h"
#include "text/utf8_chars.h"

namespace manyspan::text {

class Decoder {
 public:
  enum class Controls { show, hide };

  Decoder(const Tokenizer& tokenizer, Controls controls) : tokenizer_(&tokenizer), controls_(controls) {}

  std::string push(TokenId id);  // an id outside the vocabulary has no text
  std::string finish();          // ends the text; the next push begins another

 private:
  const Tokenizer* tokenizer_;
  Controls controls_;
  Utf8Chars chars_;
};

}  // namespace manyspan::text
