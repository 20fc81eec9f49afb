#include "text/tool_choice.h"

#include <string>
#include <utility>

#include "text/chat_read.h"
#include "text/in_quotes.h"

namespace manyspan::text {
namespace {

Error invalid(std::string what) { return Error(Fault::invalid, std::move(what)); }

Result<ToolChoice> only(const std::string& name, ToolChoice choice) {
  Json kept(Json::Array{});
  for (const Json& tool : *choice.tools.array()) {
    if (*tool.find("function")->find("name")->string() == name) kept.push(tool);
  }
  if (kept.array()->empty()) return invalid("tool_choice: no tool is named " + in_quotes(name));
  choice.tools = std::move(kept);
  choice.forced = true;
  return choice;
}

}  // namespace

Result<ToolChoice> read_tool_choice(const Json& body) {
  ToolChoice choice;
  choice.tools = Json(Json::Array{});
  if (const Json* tools = given(body, "tools")) choice.tools = TRY(read_tools(*tools));
  const Json* wish = given(body, "tool_choice");
  if (!wish) return choice;
  if (const std::string* word = wish->string()) {
    if (*word == "auto") return choice;
    if (*word == "none") {
      choice.tools = Json();
      choice.none = true;
      return choice;
    }
    if (*word != "required") return invalid("tool_choice: expected auto, none, required or a function");
    if (choice.tools.array()->empty()) return invalid("tool_choice: required, but there are no tools");
    choice.forced = true;
    return choice;
  }
  const Json* function = given(*wish, "function");
  const Json* name = given(function ? *function : *wish, "name");
  if (!name || !name->string()) return invalid("tool_choice: expected auto, none, required or a function");
  return only(*name->string(), std::move(choice));
}

}  // namespace manyspan::text
