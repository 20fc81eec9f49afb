#include "text/parse.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "text/control.h"

namespace manyspan::text {
namespace {

constexpr std::size_t kNoStop = static_cast<std::size_t>(-1);

struct Markers {
  Pattern think_end, open, close, invoke, parameter, is_string, is_raw;
  Pattern block_end[4];  // older prompts called the block tool_calls and wrote no space

  explicit Markers(std::uint16_t mark) {
    think_end.append(kThinkEnd, mark);
    open.append("<");
    open.append(kDsml, mark);
    close.append("</");
    close.append(kDsml, mark);
    invoke.append("invoke name=\"");
    parameter.append("parameter name=\"");
    is_string.append("true\">");
    is_raw.append("false\">");
    const char* const tails[] = {" calls>", "tool_calls>", "calls>", " tool_calls>"};
    for (std::size_t i = 0; i < 4; ++i) {
      block_end[i] = close;
      block_end[i].append(tails[i]);
    }
  }
};

const Markers& markers(bool by_token) {
  static const Markers any(0), tokens(kFromControl);
  return by_token ? tokens : any;
}

}  // namespace

void ParsedOutput::add(const OutputPiece& piece) {
  switch (piece.kind) {
    case OutputPiece::Kind::reasoning:
      reasoning += piece.text;
      break;
    case OutputPiece::Kind::content:
      content += piece.text;
      break;
    case OutputPiece::Kind::call:
      calls.push_back({piece.text, ""});
      break;
    case OutputPiece::Kind::arguments:
      calls.back().arguments += piece.text;
      break;
  }
}

OutputParser::OutputParser(ParseOptions options) : options_(std::move(options)) {
  for (const std::string& stop : options_.stop) stops_.emplace_back().append(stop);
  enter(options_.inside_calls ? State::calls : options_.thinking ? State::reasoning : State::answer);
}

void OutputParser::enter(State state) {
  const Markers& m = markers(options_.by_token);
  state_ = state;
  held_.clear();
  released_ = newlines_ = run_before_ = 0;
  watched_.clear();
  const auto watch = [&](const Pattern& pattern) { watched_.push_back({&pattern, 0, kNoStop}); };
  switch (state) {
    case State::reasoning:
    case State::answer:
      leading_ = true;
      if (state == State::answer) {
        for (std::size_t i = 0; i < stops_.size(); ++i) {
          if (stops_[i].size() > 0) watched_.push_back({&stops_[i], 0, i});
        }
      }
      watch(m.think_end);
      if (options_.tools) watch(m.open);
      break;
    case State::calls:
      watch(m.invoke);
      for (const Pattern& end : m.block_end) watch(end);
      break;
    case State::arguments:
      watch(m.parameter);
      watch(m.close);
      break;
    case State::kind:
      watch(m.is_string);
      watch(m.is_raw);
      break;
    case State::string_value:
    case State::raw_value:
      watch(m.close);
      break;
    case State::name:
      name_.clear();
      break;
    case State::key:
    case State::done:
      break;
  }
}

std::vector<OutputPiece> OutputParser::feed(std::string_view bytes) {
  for (const char byte : bytes) {
    chars_.push(static_cast<unsigned char>(byte),
                [&](std::string_view character) { take(character, false); });
  }
  return std::exchange(out_, {});
}

std::vector<OutputPiece> OutputParser::feed_control(std::string_view token) {
  chars_.finish([&](std::string_view character) { take(character, false); });
  for (const char byte : token) {
    chars_.push(static_cast<unsigned char>(byte), [&](std::string_view character) { take(character, true); });
  }
  return std::exchange(out_, {});
}

std::vector<OutputPiece> OutputParser::finish() {
  chars_.finish([&](std::string_view character) { take(character, false); });
  release_all_but(0);
  enter(State::done);
  return std::exchange(out_, {});
}

void OutputParser::take(std::string_view character, bool control) {
  switch (state_) {
    case State::reasoning:
    case State::answer:
      return take_prose(character, control);
    case State::string_value:
    case State::raw_value:
      return take_value(character, control);
    case State::calls:
    case State::arguments:
    case State::kind:
      return take_markup(character, control);
    case State::name:
      return take_name(character);
    case State::key:
      return take_key(character);
    case State::done:
      return;
  }
}

// Moves every watched marker on by one byte. Of several that end here, the first watched wins, and of stop
// strings the longest, so that no part of it is shown.
const OutputParser::Watch* OutputParser::step(char byte, bool control) {
  const std::uint16_t plain = static_cast<unsigned char>(byte);
  const std::uint16_t marked = plain | (control && options_.by_token ? kFromControl : 0);
  const Watch* found = nullptr;
  for (Watch& watch : watched_) {
    watch.matched = watch.pattern->step(watch.matched, watch.stop == kNoStop ? marked : plain);
    if (watch.matched < watch.pattern->size()) continue;
    const bool longer_stop = found && watch.stop != kNoStop && watch.matched > found->matched;
    if (!found || longer_stop) found = &watch;
  }
  return found;
}

void OutputParser::take_prose(std::string_view character, bool control) {
  for (const char byte : character) {
    held_ += byte;
    const Watch* found = step(byte, control);
    if (byte == '<') run_before_ = newlines_;
    newlines_ = byte == '\n' ? newlines_ + 1 : 0;
    if (found) return found_in_prose(*found);
  }
  release_all_but(undecided());
}

// How many of the last bytes may belong to a marker, with the newlines that it would swallow.
std::size_t OutputParser::undecided() const {
  const bool swallows = state_ == State::reasoning || options_.tools;
  std::size_t kept = swallows ? newlines_ : 0;
  const Markers& m = markers(options_.by_token);
  for (const Watch& watch : watched_) {
    if (watch.matched == 0) continue;
    const bool with_newlines =
        watch.pattern == &m.open || (watch.pattern == &m.think_end && state_ == State::reasoning);
    kept = std::max(kept, watch.matched + (with_newlines ? run_before_ : 0));
  }
  return kept;
}

void OutputParser::found_in_prose(const Watch& watch) {
  if (watch.stop != kNoStop) {
    release_all_but(watch.matched);
    stop_sequence_ = options_.stop[watch.stop];
    return enter(State::done);
  }
  if (watch.pattern == &markers(options_.by_token).open) {
    release_all_but(watch.matched + run_before_);
    return enter(State::calls);
  }
  if (state_ == State::reasoning) {
    release_all_but(watch.matched + run_before_);
    return enter(State::answer);
  }
  release_all_but(watch.matched);  // a stray end of reasoning is dropped
  const bool leading = leading_;
  enter(State::answer);
  leading_ = leading;
}

void OutputParser::take_value(std::string_view character, bool control) {
  for (const char byte : character) {
    held_ += byte;
    const Watch* found = step(byte, control);
    if (!found) continue;
    release_all_but(found->matched);
    if (state_ == State::string_value) emit(OutputPiece::Kind::arguments, "\"");
    return enter(State::arguments);
  }
  release_all_but(watched_.front().matched);
}

void OutputParser::take_markup(std::string_view character, bool control) {
  const Markers& m = markers(options_.by_token);
  for (const char byte : character) {
    const Watch* found = step(byte, control);
    if (!found) continue;
    if (found->pattern == &m.invoke) return enter(State::name);
    if (found->pattern == &m.parameter) {
      emit(OutputPiece::Kind::arguments, first_argument_ ? "{\"" : ", \"");
      first_argument_ = false;
      return enter(State::key);
    }
    if (found->pattern == &m.close) {
      emit(OutputPiece::Kind::arguments, first_argument_ ? "{}" : "}");
      return enter(State::calls);
    }
    if (found->pattern == &m.is_string) {
      emit(OutputPiece::Kind::arguments, "\"");
      return enter(State::string_value);
    }
    return enter(found->pattern == &m.is_raw ? State::raw_value : State::done);
  }
}

void OutputParser::take_name(std::string_view character) {
  if (character != "\"") {
    if (name_.size() + character.size() <= kLongestToolName) name_ += character;
    return;
  }
  out_.push_back({OutputPiece::Kind::call, std::move(name_)});
  called_ = true;
  first_argument_ = true;
  enter(State::arguments);
}

void OutputParser::take_key(std::string_view character) {
  if (character != "\"") return emit(OutputPiece::Kind::arguments, character);
  emit(OutputPiece::Kind::arguments, "\": ");
  enter(State::kind);
}

// Lets go of held bytes, by the rule of the state, except the last `kept`.
void OutputParser::release_all_but(std::size_t kept) {
  std::string_view ready = std::string_view(held_).substr(released_);
  ready.remove_suffix(kept);
  released_ += ready.size();
  if (state_ == State::reasoning || state_ == State::answer) {
    if (leading_) ready.remove_prefix(std::min(ready.find_first_not_of('\n'), ready.size()));
    leading_ = leading_ && ready.empty();
    emit(state_ == State::reasoning ? OutputPiece::Kind::reasoning : OutputPiece::Kind::content, ready);
  } else if (state_ == State::string_value) {
    const std::string quoted = json_quoted(ready);
    emit(OutputPiece::Kind::arguments, std::string_view(quoted).substr(1, quoted.size() - 2));
  } else if (state_ == State::raw_value) {
    emit(OutputPiece::Kind::arguments, ready);
  }
  if (released_ * 2 >= held_.size()) {  // seldom enough that a long stop string costs linear time
    held_.erase(0, released_);
    released_ = 0;
  }
}

void OutputParser::emit(OutputPiece::Kind kind, std::string_view text) {
  if (text.empty()) return;
  if (out_.empty() || out_.back().kind != kind) out_.push_back({kind, {}});
  out_.back().text += text;
}

ParsedOutput parse_output(std::string_view output, ParseOptions options) {
  OutputParser parser(std::move(options));
  ParsedOutput whole;
  for (const OutputPiece& piece : parser.feed(output)) whole.add(piece);
  for (const OutputPiece& piece : parser.finish()) whole.add(piece);
  whole.stop_sequence = parser.stop_sequence();
  return whole;
}

}  // namespace manyspan::text
