#include "text/tools.h"

#include <string>

namespace manyspan::text {
namespace {

constexpr std::string_view kToolsHead = R"(## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "<｜DSML｜ calls>" block like the following:

<｜DSML｜ calls>
<｜DSML｜ invoke name="$TOOL_NAME">
<｜DSML｜ parameter name="$PARAMETER_NAME" string="true|false">$PARAMETER_VALUE</｜DSML｜ parameter>
...
</｜DSML｜ invoke>
<｜DSML｜ invoke name="$TOOL_NAME2">
...
</｜DSML｜ invoke>
</｜DSML｜ calls>

String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, arrays, objects), pass the value in JSON format and set `string="false"`.

If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside <think>...</think> BEFORE any tool calls or final response.

Otherwise, output directly after </think> with tool calls or final response.

### Available Tool Schemas

)";

constexpr std::string_view kToolsTail =
    "\n\nYou MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.\n";

constexpr std::string_view kFormatHead =
    "## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n";

void write_parameter(std::string_view key, const Json& value, Prompt& prompt) {
  const std::string* text = value.string();
  prompt.with_tokens("<｜DSML｜ parameter name=\"");
  prompt.text(key);
  prompt.text(text ? "\" string=\"true\">" : "\" string=\"false\">");
  prompt.text(text ? *text : python_json(value));
  prompt.with_tokens("</｜DSML｜ parameter>\n");
}

}  // namespace

Result<Json> call_arguments(const Json& given) {
  constexpr JsonLimits kLimits{
      .depth = 128, .values = std::size_t{1} << 20, .duplicates = DuplicateKeys::last_wins};
  Json value = given;
  for (int time = 0; time < 2 && value.string(); ++time) {
    Result<Json> read = parse_json(*value.string(), kLimits);
    if (!read.ok()) {
      if (read.error().message().find("surrogate") == std::string::npos) break;
      return Error(Fault::invalid, "arguments: a lone surrogate is no character");
    }
    value = std::move(read).value();
  }
  if (value.object()) return value;
  Json wrapped;
  wrapped.set("arguments", given);
  return wrapped;
}

void write_calls(const std::vector<ToolCall>& calls, Prompt& prompt) {
  prompt.with_tokens("\n\n<｜DSML｜ calls>\n");
  for (const ToolCall& call : calls) {
    prompt.with_tokens("<｜DSML｜ invoke name=\"");
    prompt.text(call.name);
    prompt.text("\">\n");
    CHECK(call.arguments.object(), "a call's arguments are no object");
    const Json::Object& arguments = *call.arguments.object();
    for (const JsonMember& argument : arguments) write_parameter(argument.key, argument.value, prompt);
    if (arguments.empty()) prompt.text("\n");
    prompt.with_tokens("</｜DSML｜ invoke>\n");
  }
  prompt.with_tokens("</｜DSML｜ calls>");
}

void write_tools(const Json& tools, Prompt& prompt) {
  prompt.with_tokens(kToolsHead);
  std::string_view between;
  for (const Json& tool : *tools.array()) {
    prompt.text(between);
    prompt.text(python_json(*tool.find("function")));
    between = "\n";
  }
  prompt.text(kToolsTail);
}

void write_response_format(const Json& format, Prompt& prompt) {
  prompt.text(kFormatHead);
  prompt.text(python_json(format));
}

}  // namespace manyspan::text
