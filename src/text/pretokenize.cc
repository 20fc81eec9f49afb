#include "text/pretokenize.h"

#include "base/utf8.h"
#include "text/unicode.h"

namespace manyspan::text {
namespace {

bool is_chinese_or_kana(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF);
}

bool is_ascii_letter(char byte) { return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z'); }

bool is_ascii_mark(char byte) {
  return byte > ' ' && byte < 0x7F && !is_ascii_letter(byte) && (byte < '0' || byte > '9');
}

bool is_newline(char byte) { return byte == '\r' || byte == '\n'; }

bool is_word(CharClass kind) { return kind == CharClass::letter || kind == CharClass::mark; }

bool is_sign(CharClass kind) { return kind == CharClass::punctuation || kind == CharClass::symbol; }

// The end of the number, the Chinese or kana run, or the text between such, that starts at `from`.
std::size_t end_of_span(std::string_view text, std::size_t from) {
  enum class Kind { number, chinese, neither };
  const auto kind_of = [](char32_t code) {
    if (is_chinese_or_kana(code)) return Kind::chinese;
    return class_of(code) == CharClass::number ? Kind::number : Kind::neither;
  };
  Character character = character_at(text, from);
  const Kind kind = kind_of(character.code);
  std::size_t end = from + character.bytes;
  for (int length = 1; end < text.size() && !(kind == Kind::number && length == 3); ++length) {
    character = character_at(text, end);
    if (kind_of(character.code) != kind) break;
    end += character.bytes;
  }
  return end;
}

// The third expression, on one span alone. Every member returns the end of a match that starts at `from`, or
// `from` itself if there is none.
class SpanMatcher {
 public:
  explicit SpanMatcher(std::string_view span) : span_(span) {}

  std::size_t match(std::size_t from) const {
    std::size_t end = glued_letters(from);
    if (end == from) end = word(from);
    if (end == from) end = signs(from);
    if (end == from) end = white_space(from);
    return end;
  }

 private:
  // [!-/:-@[-`{-~][A-Za-z]+
  std::size_t glued_letters(std::size_t from) const {
    if (!is_ascii_mark(span_[from])) return from;
    std::size_t end = from + 1;
    while (end < span_.size() && is_ascii_letter(span_[end])) ++end;
    return end > from + 1 ? end : from;
  }

  // [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
  std::size_t word(std::size_t from) const {
    const Character first = character_at(span_, from);
    const CharClass kind = class_of(first.code);
    if (is_word(kind)) return run(from, is_word);
    if (is_sign(kind) || is_newline(span_[from])) return from;
    const std::size_t letters = from + first.bytes;
    const std::size_t end = run(letters, is_word);
    return end > letters ? end : from;
  }

  // ?[\p{P}\p{S}]+[\r\n]*  with an optional space before
  std::size_t signs(std::size_t from) const {
    const std::size_t first = from + (span_[from] == ' ' ? 1 : 0);
    std::size_t end = run(first, is_sign);
    if (end == first) return from;
    while (end < span_.size() && is_newline(span_[end])) ++end;
    return end;
  }

  // \s*[\r\n]+|\s+(?!\S)|\s+
  std::size_t white_space(std::size_t from) const {
    std::size_t end = from, last = from, after_newline = from;
    while (end < span_.size()) {
      const Character character = character_at(span_, end);
      if (class_of(character.code) != CharClass::space) break;
      last = end;
      end += character.bytes;
      if (is_newline(span_[last])) after_newline = end;
    }
    if (after_newline > from) return after_newline;
    return end == span_.size() || last == from ? end : last;
  }

  std::size_t run(std::size_t from, bool (*belongs)(CharClass)) const {
    while (from < span_.size()) {
      const Character character = character_at(span_, from);
      if (!belongs(class_of(character.code))) break;
      from += character.bytes;
    }
    return from;
  }

  std::string_view span_;
};

}  // namespace

std::string_view PieceCutter::next() {
  if (position_ == text_.size()) return {};
  if (position_ == span_end_) span_end_ = end_of_span(text_, position_);
  const SpanMatcher span(text_.substr(0, span_end_));
  const std::size_t begin = position_;
  position_ = span.match(begin);
  if (position_ > begin) return text_.substr(begin, position_ - begin);
  do {  // what nothing matches stays together up to the next match
    position_ += character_at(text_, position_).bytes;
  } while (position_ < span_end_ && span.match(position_) == position_);
  return text_.substr(begin, position_ - begin);
}

}  // namespace manyspan::text
