#include "text/sampling_fields.h"

#include <cmath>
#include <limits>
#include <utility>

#include "text/chat_read.h"

namespace manyspan::text {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

Result<std::optional<double>> read_number(const Json& body, const std::string& key, double most) {
  const Json* value = given(body, key);
  if (!value) return std::optional<double>();
  const std::optional<double> number = value->number();
  if (number && std::isfinite(*number) && *number >= 0 && *number <= most) return number;
  return invalid(key + ": expected a number " + (most == 1 ? "from 0 to 1" : "of 0 or more"));
}

Result<std::optional<std::int64_t>> read_count(const Json& body, const std::string& key, std::int64_t least) {
  const Json* value = given(body, key);
  if (!value) return std::optional<std::int64_t>();
  const std::optional<std::int64_t> number = value->integer();
  if (number && *number >= least) return number;
  return invalid(key + ": expected a whole number of " + std::to_string(least) + " or more");
}

Result<std::vector<std::string>> read_stop(const Json& stop) {
  std::vector<std::string> texts;
  const Json::Array single{stop};
  const Json::Array& list = stop.array() ? *stop.array() : single;
  if (list.size() > kMostStops) {
    return invalid("stop: " + std::to_string(list.size()) + " texts, at most " + std::to_string(kMostStops));
  }
  for (const Json& text : list) {
    if (!text.string() || text.string()->empty()) return invalid("stop: expected a text that is not empty");
    texts.push_back(*text.string());
  }
  return texts;
}

}  // namespace

Result<SamplingFields> read_sampling_fields(const Json& body) {
  SamplingFields fields;
  fields.temperature = TRY(read_number(body, "temperature", std::numeric_limits<double>::max()));
  fields.top_p = TRY(read_number(body, "top_p", 1));
  fields.min_p = TRY(read_number(body, "min_p", 1));
  fields.top_k = TRY(read_count(body, "top_k", -1));
  if (fields.top_k == -1) fields.top_k = 0;  // as some clients say "off"
  fields.seed = TRY(read_count(body, "seed", 0));
  fields.max_tokens = TRY(read_count(body, "max_completion_tokens", 1));
  const std::optional<std::int64_t> older_name = TRY(read_count(body, "max_tokens", 1));
  if (!fields.max_tokens) fields.max_tokens = older_name;
  if (const Json* stop = given(body, "stop")) fields.stop = TRY(read_stop(*stop));
  return fields;
}

}  // namespace manyspan::text
