#include "text/decoder.h"

namespace manyspan::text {

std::string Decoder::push(TokenId id) {
  std::string text;
  if (controls_ == Controls::hide && tokenizer_->is_control(id)) return text;
  for (const char byte : tokenizer_->bytes_of(id)) {
    chars_.push(static_cast<unsigned char>(byte), [&](std::string_view character) { text += character; });
  }
  return text;
}

std::string Decoder::finish() {
  std::string text;
  chars_.finish([&](std::string_view character) { text += character; });
  return text;
}

}  // namespace manyspan::text
