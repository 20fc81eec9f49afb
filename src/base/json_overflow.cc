#include "base/json_overflow.h"

#include <algorithm>
#include <charconv>

namespace manyspan {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of the JSON number at the front of `text`, 0 where there is none.
std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > first;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const bool zero = at < text.size() && text[at] == '0';
  const std::size_t whole = at;
  if (!digits() || (zero && at > whole + 1)) return 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return 0;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return 0;
  }
  return at;
}

// How many digits stand before the point, or minus how many zeros follow it before the first other digit,
// once the exponent is applied; far beyond any double's where that is.
long decimal_magnitude(std::string_view number) {
  constexpr long kFar = 1'000'000'000;
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, e);
  const std::size_t point = std::min(digits.find('.'), e);
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return -kFar;
  const long unscaled = static_cast<long>(point) - static_cast<long>(first) + (first > point ? 1 : 0);
  if (e == number.size()) return unscaled;

  const std::size_t sign = number.find_first_of("+-", e);
  const std::size_t from = sign == std::string_view::npos ? e + 1 : sign + 1;
  long exponent = kFar;
  const auto read = std::from_chars(number.data() + from, number.data() + number.size(), exponent);
  if (read.ec != std::errc() || exponent > kFar) exponent = kFar;
  return sign != std::string_view::npos && number[sign] == '-' ? unscaled - exponent : unscaled + exponent;
}

bool overflows(std::string_view number) {
  constexpr std::size_t kFewestDigits = 309;
  if (number.size() < kFewestDigits && number.find_first_of("eE") == std::string_view::npos) return false;
  double value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  // Out of range is also what is too small, which reads as a zero or nearly one.
  return read.ec == std::errc::result_out_of_range && decimal_magnitude(number) > 0;
}

// Past the string whose opening quote is at `at`.
std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

}  // namespace

OverflowsAside set_overflows_aside(std::string_view text) {
  OverflowsAside aside;
  std::size_t numbers = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = after_string(text, at);
    } else if (text[at] == '-' || is_digit(text[at])) {
      const std::size_t length = number_length(text.substr(at));
      if (length == 0) return aside;  // not JSON; the library's reader says why
      const std::string_view number = text.substr(at, length);
      if (overflows(number)) {
        if (aside.overflows.empty()) aside.text = text;
        aside.overflows.emplace(numbers, number);
        aside.text.replace(at, length, length, '0');
        aside.text[at + 1] = '.';
      }
      ++numbers;
      at += length;
    } else {
      ++at;
    }
  }
  return aside;
}

}  // namespace manyspan
