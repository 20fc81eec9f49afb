#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"

namespace manyspan {
namespace {

// long double, so that numbers past a double's range still reach us as text and become infinite, as in
// Python.
using Wide =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, long double>;

// Builds the value from the library's events; no recursion, so depth costs nothing until it is refused.
class Builder final : public nlohmann::json_sax<Wide> {
 public:
  explicit Builder(const JsonRules& rules) : rules_(rules) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(std::int64_t value) override { return add(Json(value)); }
  bool number_unsigned(std::uint64_t value) override { return add(Json(value)); }
  bool number_float(long double, const std::string& text) override {
    if (text.find_first_of(".eE") == std::string::npos) return add(Json::integer_from_digits(text));
    return add(Json(std::strtod(text.c_str(), nullptr)));
  }
  bool string(std::string& value) override { return add(Json(std::move(value))); }
  bool binary(Wide::binary_t&) override { return refuse("binary data"); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    Level& level = open_.back();
    level.repeated = !level.keys.try_emplace(name, level.value.size()).second;
    if (level.repeated && !rules_.last_key_wins)
      return refuse("duplicate key \"" + name + "\"");
    level.key = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    // The library's own words come after its bookkeeping: "[json.exception...] parse error at line 1, column
    // 2: WHAT".
    std::string what = e.what();
    if (const auto at = what.find(": "); at != std::string::npos) what = what.substr(at + 2);
    fault_ = "not valid JSON at byte " + std::to_string(position) + ": " + what;
    return false;
  }

  Result<Json> result() && {
    if (!fault_.empty()) return Error(Fault::corrupt, fault_);
    return std::move(root_);
  }
  bool refused() const { return !fault_.empty(); }

 private:
  struct Level {
    Json value;
    std::string key;
    bool repeated = false;
    std::unordered_map<std::string, std::size_t> keys;  // to their places
  };

  bool refuse(std::string why) {
    fault_ = std::move(why);
    return false;
  }
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Level& level = open_.back(); level.value.is_array()) {
      level.value.push(std::move(value));
    } else if (level.repeated) {
      level.value.members()[level.keys[level.key]].value = std::move(value);
    } else {
      level.value.members().push_back({std::move(level.key), std::move(value)});
    }
    return true;
  }
  bool open(Json value) {
    if (open_.size() >= rules_.deepest)
      return refuse("JSON nested deeper than " + std::to_string(rules_.deepest));
    open_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return add(std::move(value));
  }

  JsonRules rules_;
  std::vector<Level> open_;
  Json root_;
  std::string fault_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonRules& rules) {
  if (text.substr(0, 3) == "\xef\xbb\xbf")
    return Error(Fault::corrupt, "not valid JSON at byte 0: a byte order mark");
  Builder builder(rules);
  try {
    if (!Wide::sax_parse(text.begin(), text.end(), &builder) && !builder.refused()) {
      return Error(Fault::corrupt, "not valid JSON");
    }
  } catch (const std::exception& e) {
    return Error(Fault::corrupt, std::string("not readable as JSON: ") + e.what());
  }
  return std::move(builder).result();
}

}  // namespace manyspan
