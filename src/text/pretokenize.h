// pretokenize — cuts text into the pieces inside which byte pairs may merge.
//
// Does what the model's three split expressions do, one after the other, in a single walk over the
// characters: numbers of up to three digits; runs of Chinese characters and kana; then words, punctuation and
// white space. The pieces in order are the text. Specification: tokenizer, section 4.
//
// Owns       nothing: the text must outlive the cutter and its pieces
// Errors     none; an invalid byte is cut as U+FFFD would be
// Cost       linear in the text, whatever it holds
#pragma once

#include <cstddef>
#include <string_view>

namespace manyspan::text {

class PieceCutter {
 public:
  explicit PieceCutter(std::string_view text) : text_(text) {}

  // The next piece; empty at the end of the text.
  std::string_view next();

 private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t span_end_ = 0;  // of the span of the first two expressions that holds position_
};

}  // namespace manyspan::text
