#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "apps/answering.h"
#include "apps/command.h"
#include "apps/engine_options.h"
#include "apps/generation_options.h"
#include "apps/logits_input.h"
#include "apps/model_files.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/terminal.h"
#include "apps/token_ids.h"
#include "base/file.h"
#include "base/utf8.h"
#include "engine/prompt.h"

namespace manyspan::app {
namespace {

class Run final : public Command {
 public:
  About about() const override {
    return {"run", "Answer one prompt, as text that comes while the model writes it",
            "  manyspan run -p 'What hath the perfect shadow?'\n"
            "  manyspan run --messages messages.json --json"};
  }

  void declare(CLI::App& options) override {
    engine_.declare(options);
    text_option_ = options.add_option("-p,--prompt", text_, "What a user says; with --raw the prompt itself")
                       ->type_name("TEXT");
    options.add_option("--messages", messages_, "A message list, an API request body, or an encoder's input")
        ->type_name("FILE");
    ids_option_ =
        options.add_option("--ids", ids_, "The prompt as token ids, as 0,5,9 or @FILE")->type_name("IDS");
    options.add_flag("--raw", raw_, "-p is the whole prompt, and control tokens in it count");
    generation_.declare(options);
    options.add_flag("--stats", stats_,
                     "Say what was loaded and how fast it ran; with --json as \"timings\"");
  }

  Result<void> defaults(Settings& settings) override {
    TRY(offer_bundled_model(settings));
    return generation_.defaults(settings, engine_.model);
  }

  Result<void> run(const Common& common) override {
    TRY(check_usage());
    const Asked asked = TRY(read_prompt());
    const auto engine = TRY(engine_.open(common));
    if (common.cancel->requested()) return {};
    Result<Request> request = request_for(asked, *engine);
    if (!request.ok()) return placed(std::move(request).error());
    const SessionId session = TRY(engine->open_session());
    Result<Answered> answered = answer(*engine, session, request.value(), common, !common.json);
    if (!answered.ok()) return placed(std::move(answered).error());
    if (answered.value().interrupted) common.cancel->request();
    const Answer& said = answered.value().answer;
    if (common.json) TRY(write_output(answer_json(said, engine->facts(), stats_)));
    if (!common.json && !common.quiet && (stats_ || is_terminal(2))) {
      write_error(one_line(what_was_loaded(engine->facts())) + "\n");
      if (stats_) {
        for (const std::string& off : what_is_off(engine->facts())) write_error(off + "\n");
      }
      write_error(speed_line(said) + "\n");
    }
    return {};
  }

 private:
  struct Asked {
    text::ChatRequest chat;
    std::vector<TokenId> ids;
  };

  Result<void> check_usage() const {
    const bool text = !text_.empty(), messages = !messages_.empty(), ids = !ids_.empty();
    const bool empty = !text_option_->empty() || !ids_option_->empty();
    if (text + messages + ids == 0 && empty) return misuse("run: the prompt is empty");
    if (text + messages + ids != 1) {
      return misuse("run: give one prompt: -p TEXT, --messages FILE or --ids IDS");
    }
    if (raw_ && !text) return misuse("--raw: goes with -p");
    if (text && !is_valid_utf8(text_)) return misuse("-p: the text is not UTF-8");
    return {};
  }

  // The file that the prompt comes from; empty for the command line.
  std::string file() const {
    if (!messages_.empty()) return messages_;
    return ids_.starts_with('@') ? ids_.substr(1) : "";
  }

  // What is wrong with a prompt is wrong with its file, or with the command line.
  Error placed(Error error) const {
    const std::string place = file();
    if (place.empty() || error.fault() != Fault::invalid) return error;
    return of_file(std::move(error)).within(place);
  }

  // Everything that can be known before the model is loaded.
  Result<Asked> read_prompt() const {
    Asked asked;
    if (!messages_.empty()) {
      const std::string json = TRY(of_file(read_file(messages_, kMaxTextBytes)));
      Result<text::ChatRequest> chat = of_file(text::parse_chat_request(json));
      if (!chat.ok()) return std::move(chat).error().within(messages_);
      asked.chat = std::move(chat).value();
      TRY(generation_.apply(asked.chat));
    } else if (!ids_.empty()) {
      asked.ids = TRY(read_prompt_ids());
    } else if (!raw_) {
      asked.chat = TRY(question(text_));
      TRY(generation_.apply(asked.chat));
    }
    return asked;
  }

  // On the command line, or in a file as tokenize or another program wrote it.
  Result<std::vector<TokenId>> read_prompt_ids() const {
    const std::string place = file();
    if (!ids_.starts_with('@')) {
      Result<std::vector<TokenId>> ids = read_ids(ids_, "--ids");
      if (!ids.ok()) return misuse(ids.error().message());
      return ids;
    }
    const std::string text = TRY(of_file(read_file(place, kMaxTextBytes)));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || (text[first] != '[' && text[first] != '{')) {
      return read_ids(text, place);
    }
    Result<LogitsInput> input = logits_input_of(text);
    if (!input.ok()) return std::move(input).error().within(place);
    return std::move(input).value().ids;
  }

  Result<Request> request_for(const Asked& asked, const Engine& engine) const {
    const text::Tokenizer* tokenizer = engine.tokenizer();
    Request request;
    if (!ids_.empty()) {
      Result<void> known = within_vocabulary(asked.ids, engine.blueprint().vocabulary);
      if (!known.ok() && !ids_.starts_with('@')) {
        return misuse("--ids: " + known.error().message());
      }
      if (!known.ok()) return std::move(known).error().within("ids").within(file());
      request = request_of(asked.ids, tokenizer);
    } else if (tokenizer == nullptr) {
      return Error(Fault::unsupported, engine.facts().model + ": no tokenizer: give the prompt as --ids");
    } else if (raw_) {
      request = request_of(tokenizer->encode(text_, true), tokenizer);
    } else {
      request = TRY(request_of(asked.chat, *tokenizer));
    }
    generation_.apply(request, asked.chat.sampling);
    return request;
  }

  EngineChoices engine_;
  GenerationOptions generation_;
  std::string text_, messages_, ids_;
  CLI::Option *text_option_ = nullptr, *ids_option_ = nullptr;  // an empty prompt is given too
  bool raw_ = false, stats_ = false;
};

}  // namespace

std::unique_ptr<Command> run_command() { return std::make_unique<Run>(); }

}  // namespace manyspan::app
