#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/model_files.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/token_ids.h"
#include "base/file.h"
#include "text/chat_request.h"
#include "text/prompt.h"
#include "text/tokenizer.h"

namespace manyspan::app {
namespace {

Result<text::Prompt> prompt_of(std::string_view json) {
  return text::encode(TRY(text::parse_chat_request(json)));
}

class Encode final : public Command {
 public:
  About about() const override {
    return {"encode", "Show the prompt that messages become, and its ids",
            "  echo '[{\"role\": \"user\", \"content\": \"Hello\"}]' > messages.json\n"
            "  manyspan encode --messages messages.json"};
  }

  void declare(CLI::App& options) override {
    declare_model(options, model_);
    options.add_option("--messages", messages_, "A message list, an API request body, or an encoder's input")
        ->type_name("FILE");
  }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    if (messages_.empty()) return misuse("--messages: name a file");
    const text::Tokenizer tokenizer = TRY(read_model_tokenizer(model_));
    const std::string json = TRY(of_file(read_file(messages_, kMaxTextBytes)));
    Result<text::Prompt> prompt = of_file(prompt_of(json));
    if (!prompt.ok()) return std::move(prompt).error().within(messages_);
    const std::string text = prompt.value().joined();
    const auto ids = numbers(TRY(of_file(text::prompt_ids(prompt.value(), tokenizer))));
    if (common.json) return write_output(json_text({{"prompt", text}, {"ids", ids}}));
    return write_output(fmt::format("{}\n{}\n", text, fmt::join(ids, " ")));
  }

 private:
  std::string model_;
  std::string messages_;
};

}  // namespace

std::unique_ptr<Command> encode_command() { return std::make_unique<Encode>(); }

}  // namespace manyspan::app
