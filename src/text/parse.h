// parse — splits model output into reasoning, answer and tool calls while it arrives.
//
// Specification: prompt encoding, sections 8 and 9. The totals are the same however the output is cut into
// pieces. Each piece that comes out is whole characters; bytes that are no UTF-8 become U+FFFD.
//
// Requires   feed() is given what follows the prompt, without the end-of-sentence token
// Threads    one parser belongs to one thread
// Cost       linear; held back are at most a run of newlines and the longest marker or stop string
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pattern.h"
#include "text/utf8_chars.h"

namespace manyspan::text {

struct ParseOptions {
  bool thinking = false;      // the prompt ended inside the reasoning
  bool tools = true;          // markup opens calls; else it is passed on as text
  bool inside_calls = false;  // the prompt ended by opening a block of calls
  bool by_token = false;      // markers count only where their bytes came through feed_control()
  std::vector<std::string> stop;
};

// A tool name longer than this is cut, so that a model gone wrong can't make the parser hold megabytes.
inline constexpr std::size_t kLongestToolName = 64 * 1024;

struct OutputPiece {
  enum class Kind {
    reasoning,
    content,
    call,       // opens the next tool call; the text is its whole name
    arguments,  // more JSON text of the call opened last; as the model wrote it, so maybe not valid
  };
  Kind kind;
  std::string text;
};

struct ParsedCall {
  std::string name;
  std::string arguments;
};

struct ParsedOutput {
  std::string reasoning;
  std::string content;
  std::vector<ParsedCall> calls;
  std::optional<std::string> stop_sequence;

  void add(const OutputPiece& piece);
};

class OutputParser {
 public:
  explicit OutputParser(ParseOptions options);
  OutputParser(OutputParser&&) = default;
  OutputParser& operator=(OutputParser&&) = default;

  std::vector<OutputPiece> feed(std::string_view bytes);
  // The text of one control token that the model produced. Those that must never reach a client are the
  // caller's to leave out: the parser only acts on the end of reasoning and the markup's token.
  std::vector<OutputPiece> feed_control(std::string_view token);
  // Ends the output; what was held back turns out to be ordinary text.
  std::vector<OutputPiece> finish();

  bool done() const { return state_ == State::done; }  // nothing that follows can matter
  bool called() const { return called_; }              // a tool call has been announced
  const std::optional<std::string>& stop_sequence() const { return stop_sequence_; }

 private:
  enum class State { reasoning, answer, calls, name, arguments, key, kind, string_value, raw_value, done };

  struct Watch {
    const Pattern* pattern;
    std::size_t matched;
    std::size_t stop;  // index into the stop strings, or kNoStop
  };

  void enter(State state);
  void take(std::string_view character, bool control);
  void take_prose(std::string_view character, bool control);
  void take_value(std::string_view character, bool control);
  void take_markup(std::string_view character, bool control);
  void take_name(std::string_view character);
  void take_key(std::string_view character);
  const Watch* step(char byte, bool control);
  std::size_t undecided() const;
  void found_in_prose(const Watch& watch);
  void release_all_but(std::size_t kept);
  void emit(OutputPiece::Kind kind, std::string_view text);

  ParseOptions options_;
  std::vector<Pattern> stops_;
  std::vector<Watch> watched_;
  Utf8Chars chars_;
  State state_ = State::answer;
  bool leading_ = false;  // only newlines so far in this part
  bool called_ = false;
  bool first_argument_ = true;
  std::string held_;            // prose or value that may still turn into a marker
  std::size_t released_ = 0;    // bytes at its front that are already out
  std::size_t newlines_ = 0;    // in a row, just before the next byte
  std::size_t run_before_ = 0;  // newlines in a row before the last '<'
  std::string name_;
  std::vector<OutputPiece> out_;
  std::optional<std::string> stop_sequence_;
};

ParsedOutput parse_output(std::string_view output, ParseOptions options);

}  // namespace manyspan::text
