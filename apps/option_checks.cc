#include "apps/option_checks.h"

#include <charconv>
#include <fmt/core.h>

namespace manyspan::app {
namespace {

constexpr std::size_t kShown = 40;  // of what is no such number

// All of `text` as one number; the library's own reading would saturate, and take octal and "nan".
template <class Number>
CLI::Validator within(Number least, Number most, const char* kind) {
  const auto refusal = [=](std::string& text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [rest, fault] = std::from_chars(text.data(), end, value);
    if (fault != std::errc() || rest != end || !(value >= least && value <= most)) {
      return fmt::format("\"{}\" is no {} from {} to {}", text.substr(0, kShown), kind, least, most);
    }
    text = fmt::format("{}", value);  // or "010" would be read as 8
    return std::string();
  };
  return CLI::Validator(refusal, "");
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return within(least, most, "whole number");
}

CLI::Validator decimal_number(double least, double most) { return within(least, most, "number"); }

CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return std::string(text.empty() ? "it is empty" : ""); }, "");
}

}  // namespace manyspan::app
