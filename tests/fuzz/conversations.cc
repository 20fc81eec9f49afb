// What clients send and what models write: prompts that say just what was sent, and output that is split the same
// however it arrives.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/utf8.h"
#include "tests/fuzz/target.h"
#include "text/chat_request.h"
#include "text/parse.h"
#include "text/prompt.h"

namespace manyspan::fuzz {
namespace {

using text::OutputParser;
using text::OutputPiece;
using text::ParsedOutput;
using text::ParseOptions;

const text::Tokenizer& small_tokenizer() {
  static const text::Tokenizer tokenizer =
      text::Tokenizer::open(MANYSPAN_SOURCE_DIR "/tests/data/tokenizer-small/tokenizer.json").value();
  return tokenizer;
}

// JSON is read again as it was written, in both spellings.
Outcome reads_again(const Json& value) {
  const JsonLimits limits{.depth = 128, .values = std::size_t{4} << 20, .duplicates = DuplicateKeys::refuse};
  const std::string compact = compact_json(value);
  HOLD(is_valid_utf8(compact), "JSON is written as UTF-8");
  const Result<Json> again = parse_json(compact, limits);
  HOLD(again.ok(), "JSON that was written is read: " + again.error().message());
  HOLD(compact_json(again.value()) == compact, "and says the same");
  const std::string python = python_json(value);
  const Result<Json> spaced = parse_json(python, limits);
  if (!spaced.ok()) {
    HOLD(python.find("Infinity") != std::string::npos, "only Infinity is no JSON");
    return {};
  }
  HOLD(python_json(spaced.value()) == python, "and with spaces");
  return {};
}

// What a run of pieces adds up to, and whether each is whole characters.
class Splitter {
 public:
  explicit Splitter(ParseOptions options) : parser_(std::move(options)) {}

  void feed(std::string_view bytes, bool control) {
    take(control ? parser_.feed_control(bytes) : parser_.feed(bytes));
  }
  ParsedOutput finish() {
    take(parser_.finish());
    whole_.stop_sequence = parser_.stop_sequence();
    return whole_;
  }
  bool valid() const { return valid_; }

 private:
  void take(const std::vector<OutputPiece>& pieces) {
    for (const OutputPiece& piece : pieces) {
      valid_ = valid_ && is_valid_utf8(piece.text);
      whole_.add(piece);
    }
  }

  OutputParser parser_;
  ParsedOutput whole_;
  bool valid_ = true;
};

bool same(const ParsedOutput& a, const ParsedOutput& b) {
  return a.reasoning == b.reasoning && a.content == b.content && a.stop_sequence == b.stop_sequence &&
         std::ranges::equal(a.calls, b.calls, [](const auto& x, const auto& y) {
           return x.name == y.name && x.arguments == y.arguments;
         });
}

// An output's head: a byte of flags, a byte that says how to cut, then up to three stop strings, each ended by a zero
// byte. Tokens are what stands between bytes of 1, every other one a control token.
struct Output {
  ParseOptions options{};
  std::uint8_t cut = 0;
  std::vector<std::string_view> tokens{};
};

Output read_output(std::string_view input) {
  Output output;
  if (input.size() < 2) return output;
  const auto flags = static_cast<std::uint8_t>(input[0]);
  output.options = {.thinking = (flags & 1u) != 0,
                    .tools = (flags & 2u) != 0,
                    .inside_calls = (flags & 4u) != 0,
                    .by_token = (flags & 8u) != 0,
                    .stop = {}};
  output.cut = static_cast<std::uint8_t>(input[1]);
  input.remove_prefix(2);
  for (unsigned stops = flags >> 6; stops > 0; --stops) {
    const std::size_t end = std::min(input.find('\0'), input.size());
    if (end > 0 && is_valid_utf8(input.substr(0, end)))
      output.options.stop.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  while (true) {
    const std::size_t end = std::min(input.find('\1'), input.size());
    output.tokens.push_back(input.substr(0, end));
    if (end == input.size()) return output;
    input.remove_prefix(end + 1);
  }
}

// Pieces of 1 to 16 bytes, by a generator that `seed` starts; of 1 byte where it is 0.
ParsedOutput split_in_pieces(const Output& output, std::uint32_t seed, bool& valid) {
  Splitter splitter(output.options);
  bool control = false;
  std::uint32_t state = seed;
  for (std::string_view token : output.tokens) {
    while (!control && !token.empty()) {
      state = state * 1664525u + (seed == 0 ? 0 : 1013904223u);
      const std::size_t size = std::min<std::size_t>(token.size(), 1 + (state >> 28));
      splitter.feed(token.substr(0, size), false);
      token.remove_prefix(size);
    }
    if (control) splitter.feed(token, true);
    control = !control;
  }
  ParsedOutput whole = splitter.finish();
  valid = valid && splitter.valid();
  return whole;
}

}  // namespace

Outcome chat_request(std::string_view input) {
  const JsonLimits limits{
      .depth = 128, .values = std::size_t{4} << 20, .duplicates = DuplicateKeys::last_wins};
  const Result<Json> json = parse_json(input, limits);
  const Result<text::ChatRequest> request = text::parse_chat_request(input);
  if (!json.ok()) {
    HOLD(!request.ok(), "what is not JSON is no request");
    return refused(json.error());
  }
  if (Outcome outcome = reads_again(json.value()); !outcome.broken.empty()) return outcome;
  if (!request.ok()) return refused(request.error());
  const Result<text::Prompt> made = text::encode(request.value());
  if (!made.ok()) return refused(made.error());
  const text::Prompt& prompt = made.value();
  const std::string text = prompt.joined();
  HOLD(is_valid_utf8(text), "a prompt is UTF-8");
  std::string segments;
  std::size_t controls = 0;
  for (const text::PromptSegment& segment : prompt.segments()) {
    segments += segment.text;
    controls += segment.control ? 1u : 0u;
  }
  HOLD(segments == text, "a prompt is its segments");
  const auto ids = text::prompt_ids(prompt, small_tokenizer());
  if (!ids.ok()) return refused(ids.error());
  const auto again = small_tokenizer().decode_bytes(ids.value());
  HOLD(again.ok() && again.value() == text, "a prompt's ids spell it");
  const auto tokens = static_cast<std::size_t>(
      std::ranges::count_if(ids.value(), [](TokenId id) { return small_tokenizer().is_control(id); }));
  HOLD(tokens == controls, "only the template makes control tokens: " + std::to_string(tokens) + " of " +
                               std::to_string(controls));
  OutputParser parser(text::parse_options(request.value(), prompt));
  parser.feed(text);
  parser.finish();
  return {.accepted = true};
}

Outcome output(std::string_view input) {
  const Output output = read_output(input);
  Splitter at_once(output.options);
  bool control = false;
  for (const std::string_view token : output.tokens) {
    at_once.feed(token, control);
    control = !control;
  }
  const ParsedOutput whole = at_once.finish();
  HOLD(at_once.valid(), "pieces are whole characters");
  bool valid = true;
  for (const std::uint32_t seed : {0u, 1u + output.cut, 1000u + output.cut}) {
    HOLD(same(split_in_pieces(output, seed, valid), whole), "output is split the same however it is cut");
  }
  HOLD(valid, "pieces are whole characters however it is cut");
  if (whole.stop_sequence) {
    const auto& stop = output.options.stop;
    HOLD(std::ranges::find(stop, *whole.stop_sequence) != stop.end(), "what stopped it is a stop string");
  }
  return {.accepted = true};
}

}  // namespace manyspan::fuzz
