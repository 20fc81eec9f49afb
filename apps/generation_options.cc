#include "apps/generation_options.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <limits>

#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/settings.h"
#include "apps/status.h"
#include "base/utf8.h"
#include "engine/generation_config.h"
#include "engine/prompt.h"

namespace manyspan::app {
namespace {

constexpr std::int64_t kMostTokens = std::int64_t{1} << 40;
constexpr std::int64_t kMostTopK = std::int64_t{1} << 30;

// The option's value if it was given, else what the request asks for, else the option's default.
template <class Value, class Asked>
Value settled(bool given, const Value& option, const std::optional<Asked>& asked) {
  return given || !asked ? option : static_cast<Value>(*asked);
}

}  // namespace

Result<void> check_stops(const std::vector<std::string>& stops) {
  for (const std::string& stop : stops) {
    if (stop.empty()) return misuse("--stop: the text is empty");
    if (!is_valid_utf8(stop)) return misuse("--stop: the text is not UTF-8");
  }
  return {};
}

void GenerationOptions::declare(CLI::App& options) {
  options.add_option("--max-tokens", max_tokens_, "Stop after so many tokens; 0: when the context is full")
      ->transform(whole_number(0, kMostTokens))
      ->type_name("N");
  options.add_option("--temperature", temperature_, "0 takes the likeliest token; above 0 samples")
      ->transform(decimal_number(0, 100))
      ->type_name("T");
  options.add_option("--top-p", top_p_, "Sample from the likeliest tokens that make up this share")
      ->transform(decimal_number(1e-6, 1))
      ->type_name("P");
  options.add_option("--top-k", top_k_, "Sample from so many of the likeliest tokens; 0: from all")
      ->transform(whole_number(0, kMostTopK))
      ->type_name("K");
  options.add_option("--min-p", min_p_, "Leave out tokens below this share of the likeliest one's")
      ->transform(decimal_number(0, 0.999999))
      ->type_name("P");
  options.add_option("--seed", seed_, "The draw depends on this and the position alone")
      ->transform(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->type_name("N");
  options.add_option("--stop", stop_, "End the answer before this text; may be given again")
      ->allow_extra_args(false)
      ->type_name("TEXT");
  options.add_option("--thinking", thinking_, "off, on, low, high, max, or an effort of 1 to 100")
      ->check([](const std::string& word) {
        return is_thinking(word) ? std::string() : word + " is not off, on, low, high, max or 1 to 100";
      })
      ->type_name("HOW");
}

Result<void> GenerationOptions::defaults(Settings& settings, const std::string& model) {
  given_ = {.temperature = settings.given("temperature"),
            .top_p = settings.given("top-p"),
            .top_k = settings.given("top-k"),
            .min_p = settings.given("min-p"),
            .seed = settings.given("seed"),
            .max_tokens = settings.given("max-tokens"),
            .stop = settings.given("stop"),
            .thinking = settings.given("thinking")};
  if (stop_.size() > text::kMostStops) return misuse(fmt::format("--stop: at most {}", text::kMostStops));
  TRY(check_stops(stop_));
  const GenerationDefaults file = TRY(read_model_defaults(model));
  const auto offer = [&](const char* option, const std::string& value) {
    return of_file(settings.offer(option, {value}, Source::generation_config));
  };
  TRY(offer("temperature", file.do_sample ? fmt::format("{}", file.temperature) : "0"));
  TRY(offer("top-p", fmt::format("{}", file.top_p)));
  if (file.thinking_said) TRY(offer("thinking", file.thinking));
  return {};
}

Result<void> GenerationOptions::apply(text::ChatRequest& chat) const {
  if (given_.stop) chat.sampling.stop = stop_;
  if (given_.thinking || !chat.thinking) TRY(set_thinking(chat, thinking_));
  return {};
}

void GenerationOptions::apply(Request& request, const text::SamplingFields& asked) const {
  Sampling& s = request.sampling;
  s.temperature = static_cast<float>(settled(given_.temperature, temperature_, asked.temperature));
  s.top_p = static_cast<float>(settled(given_.top_p, top_p_, asked.top_p));
  s.min_p = static_cast<float>(settled(given_.min_p, min_p_, asked.min_p));
  s.top_k = static_cast<std::int32_t>(std::min(settled(given_.top_k, top_k_, asked.top_k), kMostTopK));
  s.seed = static_cast<std::uint64_t>(settled(given_.seed, seed_, asked.seed));
  request.max_tokens = settled(given_.max_tokens, max_tokens_, asked.max_tokens);
  if (given_.stop) request.stop = stop_;
}

}  // namespace manyspan::app
