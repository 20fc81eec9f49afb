// LineInput — what a person types, or a script sends, one message at a time.
//
// A line that ends in a backslash goes on in the next. A block that is pasted into a terminal is one message.
//
// Errors     not_found, corrupt (too long): standard input
// Threads    one
#pragma once

#include <memory>
#include <string>

#include "base/cancel.h"
#include "base/result.h"

namespace manyspan::app {

struct Line {
  enum class Kind { text, interrupted, end };
  Kind kind;
  std::string text;  // without the line end; may hold line ends of its own
};

class LineInput {
 public:
  virtual ~LineInput() = default;

  virtual Result<Line> next(const Cancel& cancel) = 0;

  // Someone types, and sees what they type.
  virtual bool interactive() const = 0;
};

// With editing and history if standard input and standard error are a terminal.
std::unique_ptr<LineInput> line_input();

std::unique_ptr<LineInput> plain_lines();
std::unique_ptr<LineInput> line_editor();  // null where the terminal can't be used

// Reads on while lines end in a backslash. `read_line(first)` gives one line.
template <class ReadLine>
Result<Line> joined_lines(ReadLine&& read_line) {
  Line whole = TRY(read_line(true));
  while (whole.kind == Line::Kind::text && whole.text.ends_with('\\')) {
    whole.text.back() = '\n';
    Line more = TRY(read_line(false));
    if (more.kind == Line::Kind::interrupted) return more;
    if (more.kind == Line::Kind::end) break;
    whole.text += more.text;
  }
  return whole;
}

}  // namespace manyspan::app
