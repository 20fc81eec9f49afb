#include "text/parse_strict.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <unordered_set>

#include "base/json.h"
#include "text/control.h"

namespace manyspan::text {
namespace {

constexpr std::string_view kOpenCalls = "\n\n<｜DSML｜ calls";
constexpr std::string_view kCloseCalls = "</｜DSML｜ calls>";
constexpr std::string_view kOpenInvoke = "<｜DSML｜ invoke";
constexpr std::string_view kCloseInvoke = "</｜DSML｜ invoke";
constexpr std::string_view kOpenParameter = "<｜DSML｜ parameter";
constexpr std::string_view kCloseParameter = "</｜DSML｜ parameter";

Error invalid(const char* what) { return Error(Fault::invalid, what); }

// A piece of text and the marker that ended it; no marker if the text ended first.
struct Span {
  std::string_view text;
  std::string_view ended_by;
};

class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  std::string_view rest() const { return rest_; }

  // Reads up to the first of the markers, and past it.
  Span until(std::initializer_list<std::string_view> markers) {
    std::size_t end = rest_.size();
    std::string_view ended_by;
    for (const std::string_view marker : markers) {
      const std::size_t at = rest_.find(marker);
      if (at >= end) continue;
      end = at;
      ended_by = marker;
    }
    const Span span{rest_.substr(0, end), ended_by};
    rest_.remove_prefix(end + ended_by.size());
    return span;
  }

 private:
  std::string_view rest_;
};

bool has_control(std::string_view text) {
  for (const std::string_view token : {kBos, kEos, kThink, kThinkEnd, kDsml}) {
    if (text.find(token) != std::string_view::npos) return true;
  }
  return false;
}

// The tool's name from ` name="NAME">` and one line end, or two where there are no parameters.
Result<std::string> tool_name(std::string_view head) {
  constexpr std::string_view kBefore = "name=\"", kAfter = "\">\n";
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n\f\v"), head.size()));
  if (head.substr(0, kBefore.size()) != kBefore) return invalid("tool name format");
  head.remove_prefix(kBefore.size());
  for (std::string_view end : {std::string_view("\">\n\n"), kAfter}) {
    if (head.size() < end.size() || head.substr(head.size() - end.size()) != end) continue;
    return std::string(head.substr(0, head.size() - end.size()));
  }
  return invalid("tool name format");
}

// Appends `"KEY": VALUE` from ` name="KEY" string="true|false">VALUE`.
Result<void> add_parameter(std::string_view body, std::unordered_set<std::string_view>& seen,
                           std::string& out) {
  constexpr std::string_view kBefore = " name=\"", kString = "\" string=\"true\">",
                             kRaw = "\" string=\"false\">";
  if (body.substr(0, kBefore.size()) != kBefore) return invalid("parameter format");
  body.remove_prefix(kBefore.size());
  Reader reader(body);
  const Span key = reader.until({kString, kRaw});
  if (key.ended_by.empty()) return invalid("parameter format");
  if (!seen.insert(key.text).second) return invalid("duplicate parameter");
  const bool is_string = key.ended_by == kString;
  out += seen.size() == 1 ? "{" : ", ";
  out += json_quoted(key.text) + ": ";
  out += is_string ? json_quoted(reader.rest()) : std::string(reader.rest());
  return {};
}

Result<ParsedCall> read_call(Reader& reader) {
  Span head = reader.until({kOpenParameter, kCloseInvoke});
  if (head.ended_by.empty()) return invalid("tool name format");
  ParsedCall call{TRY(tool_name(head.text)), ""};
  std::unordered_set<std::string_view> seen;
  while (head.ended_by == kOpenParameter) {
    const Span body = reader.until({kCloseParameter});
    if (body.ended_by.empty()) return invalid("parameter format");
    TRY(add_parameter(body.text, seen, call.arguments));
    head = reader.until({kOpenParameter, kCloseInvoke});
    if (head.text != ">\n" || head.ended_by.empty()) return invalid("parameter format");
  }
  call.arguments += seen.empty() ? "{}" : "}";
  return call;
}

}  // namespace

Result<ParsedOutput> parse_strict(std::string_view output, bool thinking) {
  ParsedOutput parsed;
  Reader reader(output);
  if (thinking) {
    const Span reasoning = reader.until({kThinkEnd, kOpenCalls});
    if (reasoning.ended_by != kThinkEnd) return invalid("missing </think>");
    parsed.reasoning = reasoning.text;
  }
  const Span content = reader.until({kOpenCalls});
  parsed.content = content.text;
  if (has_control(parsed.reasoning) || has_control(parsed.content)) {
    return invalid("special token in content");
  }
  if (content.ended_by.empty()) return parsed;
  while (true) {
    const Span gap = reader.until({kOpenInvoke, kCloseCalls});
    if (gap.text != ">\n" || gap.ended_by.empty()) return invalid("call format");
    if (gap.ended_by == kCloseCalls) break;
    parsed.calls.push_back(TRY(read_call(reader)));
  }
  if (!reader.rest().empty()) return invalid("content after calls");
  return parsed;
}

}  // namespace manyspan::text
