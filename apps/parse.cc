#include "text/parse.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "apps/command.h"
#include "apps/generation_options.h"
#include "apps/json_text.h"
#include "apps/streams.h"

namespace manyspan::app {
namespace {

nlohmann::ordered_json as_json(const text::ParsedOutput& parsed) {
  nlohmann::ordered_json document = {{"reasoning", parsed.reasoning},
                                     {"content", parsed.content},
                                     {"tool_calls", nlohmann::ordered_json::array()},
                                     {"stop_sequence", nullptr}};
  for (const text::ParsedCall& call : parsed.calls) {
    document["tool_calls"].push_back({{"name", call.name}, {"arguments", call.arguments}});
  }
  if (parsed.stop_sequence) document["stop_sequence"] = *parsed.stop_sequence;
  return document;
}

std::string as_text(const text::ParsedOutput& parsed) {
  std::string shown;
  if (!parsed.reasoning.empty()) shown += fmt::format("reasoning: {}\n", parsed.reasoning);
  if (!parsed.content.empty()) shown += fmt::format("content: {}\n", parsed.content);
  for (const text::ParsedCall& call : parsed.calls) {
    shown += fmt::format("call: {} {}\n", call.name, call.arguments);
  }
  if (parsed.stop_sequence) shown += fmt::format("stopped at: {}\n", *parsed.stop_sequence);
  return shown;
}

class Parse final : public Command {
 public:
  About about() const override {
    return {"parse", "Split model output on standard input into reasoning, answer and tool calls",
            "  printf 'I think.</think>Yes.' | manyspan parse --mode thinking --json"};
  }

  void declare(CLI::App& options) override {
    options.add_option("--mode", mode_, "chat, or thinking (the output begins inside the reasoning)")
        ->check(CLI::IsMember({"chat", "thinking"}));
    options.add_flag("--inside-calls", inside_calls_, "The output begins inside a block of calls");
    options.add_flag("--no-tools", no_tools_, "Pass tool markup on as text");
    options.add_option("--stop", stop_, "End the answer before this text; may be given again")
        ->allow_extra_args(false);
  }

  Result<void> run(const Common& common) override {
    TRY(check_stops(stop_));
    const std::string output = TRY(read_input(*common.cancel));
    if (common.cancel->requested()) return {};
    const text::ParsedOutput parsed = text::parse_output(output, {.thinking = mode_ == "thinking",
                                                                  .tools = !no_tools_,
                                                                  .inside_calls = inside_calls_,
                                                                  .by_token = false,
                                                                  .stop = stop_});
    return write_output(common.json ? json_text(as_json(parsed)) : as_text(parsed));
  }

 private:
  std::string mode_ = "chat";
  bool inside_calls_ = false;
  bool no_tools_ = false;
  std::vector<std::string> stop_;
};

}  // namespace

std::unique_ptr<Command> parse_command() { return std::make_unique<Parse>(); }

}  // namespace manyspan::app
