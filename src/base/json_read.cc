#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/json_events.h"
#include "base/json_keys.h"
#include "base/json_overflow.h"

namespace manyspan {
namespace {

Error not_json(std::string_view text, std::size_t at, const std::string& why) {
  at = std::min(at, text.size());
  std::size_t line = 1, line_start = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if (text[i] == '\n') {
      ++line;
      line_start = i + 1;
    }
  }
  return Error(Fault::corrupt, "JSON line " + std::to_string(line) + ", column " +
                                   std::to_string(at - line_start + 1) + ": " + why);
}

// Tells how far the library has read.
class Reader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reader(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  Reader& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  bool operator==(const Reader& other) const { return at_ == other.at_; }
  bool operator!=(const Reader& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// The library's words for what is wrong, without its codes, and without the text around, which may be long.
std::string reason_of(const std::string& what) {
  constexpr std::size_t kLongest = 120;
  const std::size_t dash = what.find(" - ");
  if (dash == std::string::npos) return "not JSON";
  const std::size_t from = dash + 3;
  std::string reason = what.substr(from, what.find("; last read", from) - from);
  if (reason.find("ill-formed UTF-8") != std::string::npos) return "invalid UTF-8 in a string";
  if (reason.size() > kLongest) reason.resize(kLongest);
  return reason;
}

// Between the library's events and ours: keeps the rules that the library does not.
class Door : public nlohmann::json_sax<nlohmann::json> {
 public:
  Door(const JsonLimits& limits, const std::map<std::size_t, std::string>& overflows, JsonEvents& events)
      : limits_(limits), overflows_(overflows), events_(events) {}

  bool null() override { return give(Json()); }
  bool boolean(bool value) override { return give(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    ++numbers_;
    return give(Json(value));
  }
  bool number_integer(number_integer_t value) override {
    ++numbers_;
    return give(value == 0 ? Json::integer_of("-0") : Json(value));
  }
  bool number_float(number_float_t value, const string_t& written) override {
    const auto aside = overflows_.find(numbers_++);
    const std::string& digits = aside == overflows_.end() ? written : aside->second;
    if (digits.find_first_of(".eE") == std::string::npos) return give(Json::integer_of(digits));
    if (aside == overflows_.end()) return give(Json(value));
    const double infinity = std::numeric_limits<double>::infinity();
    return give(Json(digits.starts_with('-') ? -infinity : infinity));
  }
  bool string(string_t& value) override { return give(Json(std::move(value))); }
  bool binary(binary_t&) override { return fail("not JSON"); }

  bool start_object(std::size_t) override { return open() && pass(events_.begin_object()); }
  bool start_array(std::size_t) override { return open() && pass(events_.begin_array()); }
  bool end_object() override { return close() && pass(events_.end_object()); }
  bool end_array() override { return close() && pass(events_.end_array()); }
  bool key(string_t& key) override {
    if (limits_.duplicates == DuplicateKeys::refuse && keys_.back().add(key).has_value()) {
      constexpr std::size_t kLongest = 200;
      return fail("duplicate key " + json_quoted(key.size() <= kLongest ? key : "(a long one)"));
    }
    return pass(events_.key(std::move(key)));
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& what) override {
    error_at_ = position == 0 ? 0 : position - 1;
    return fail(reason_of(what.what()));
  }

  const std::optional<std::size_t>& error_at() const { return error_at_; }
  const std::string& reason() const { return reason_; }
  Fault fault() const { return fault_; }

 private:
  bool count() {
    return ++values_ <= limits_.values || fail("more than " + std::to_string(limits_.values) + " values");
  }
  bool give(Json value) { return count() && pass(events_.scalar(std::move(value))); }
  bool open() {
    if (!count()) return false;
    if (keys_.size() >= static_cast<std::size_t>(limits_.depth))
      return fail("nested deeper than " + std::to_string(limits_.depth));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }
  bool pass(const Result<void>& result) {
    if (result.ok()) return true;
    fault_ = result.error().fault();
    return fail(result.error().message());
  }
  bool fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  const JsonLimits& limits_;
  const std::map<std::size_t, std::string>& overflows_;
  JsonEvents& events_;
  std::vector<JsonKeys> keys_;  // of each open array (none) and object
  std::size_t values_ = 0, numbers_ = 0;
  std::string reason_;
  std::optional<std::size_t> error_at_;  // where the library said; else where it had read to
  Fault fault_ = Fault::corrupt;
};

Result<void> check_first_and_zero_bytes(std::string_view text) {
  // The library would skip a byte order mark, and take a zero byte for the end.
  if (text.starts_with("\xEF\xBB\xBF")) return not_json(text, 0, "a byte order mark");
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) return not_json(text, zero, "a zero byte");
  return {};
}

}  // namespace

Result<void> read_json(std::string_view text, const JsonLimits& limits, JsonEvents& events) {
  TRY(check_first_and_zero_bytes(text));
  try {
    const OverflowsAside aside = set_overflows_aside(text);
    if (!aside.overflows.empty()) text = aside.text;
    const char* furthest = text.data();
    Door door(limits, aside.overflows, events);
    const bool read = nlohmann::json::sax_parse(Reader(text.data(), &furthest),
                                                Reader(text.data() + text.size(), &furthest), &door);
    if (read) return {};
    const char* const last_read = std::max(furthest - 1, text.data());
    const auto at = door.error_at().value_or(static_cast<std::size_t>(last_read - text.data()));
    return Error(door.fault(), not_json(text, at, door.reason()).message());
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, "no memory for JSON of " + std::to_string(text.size()) + " bytes");
  }
}

}  // namespace manyspan
