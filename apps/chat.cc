#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <optional>

#include "apps/answering.h"
#include "apps/chat_history.h"
#include "apps/command.h"
#include "apps/engine_options.h"
#include "apps/generation_options.h"
#include "apps/line_input.h"
#include "apps/model_files.h"
#include "apps/own_interrupt.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "engine/prompt.h"

namespace manyspan::app {
namespace {

constexpr const char* kCommands =
    "/reset forgets what was said, /save FILE and /load FILE keep it, /stats tells the speed, /quit ends";

class Chat final : public Command {
 public:
  About about() const override {
    return {"chat", "Talk with a model; what is said stays, until /reset",
            "  manyspan chat\n"
            "  printf 'What hath the perfect shadow?\\n' | manyspan chat --json"};
  }

  void declare(CLI::App& options) override {
    engine_options_.declare(options);
    generation_.declare(options);
    options.add_flag("--stats", stats_, "Say how fast each answer was; with --json as \"timings\"");
  }

  Result<void> defaults(Settings& settings) override {
    TRY(offer_bundled_model(settings));
    return generation_.defaults(settings, engine_options_.model);
  }

  Result<void> run(const Common& common) override {
    const auto engine = TRY(engine_options_.open(common));
    if (engine->tokenizer() == nullptr) {
      return Error(Fault::unsupported, engine->facts().model + ": no tokenizer.json: it can't chat");
    }
    engine_ = engine.get();
    session_ = TRY(engine->open_session());
    input_ = line_input();
    if (input_->interactive() && !common.quiet) note(fmt::format("{}\n{}", loaded(), kCommands));
    while (!common.cancel->requested()) {
      const Line line = TRY(next_line(common));
      if (line.kind == Line::Kind::end) break;
      if (line.kind == Line::Kind::interrupted || line.text.find_first_not_of(" \t\n") == std::string::npos) {
        continue;
      }
      const bool command = line.text.front() == '/' && line.text.find('\n') == std::string::npos;
      if (command && line.text == "/quit") break;
      const Result<void> done = command ? obey(line.text) : turn(line.text, common);
      if (done.ok()) continue;
      // A person can try again; a script can't know, and must not go on as if nothing was.
      const bool lasting = done.error().fault() == Fault::device_lost || done.error().message().empty();
      if (!input_->interactive() || lasting) return done;
      note(fmt::format("manyspan: {}", one_line(done.error().message())));
    }
    return {};
  }

 private:
  void note(const std::string& text) const { fmt::print(stderr, "{}\n", text); }
  std::string loaded() const { return one_line(what_was_loaded(engine_->facts())); }

  // Where someone types, Ctrl-C clears the line; else it ends the program.
  Result<Line> next_line(const Common& common) {
    OwnInterrupt interrupt(*common.cancel);
    Line line = TRY(input_->next(interrupt.cancel()));
    if (interrupt.cancel().requested() && !input_->interactive()) common.cancel->request();
    return line;
  }

  Result<void> turn(const std::string& text, const Common& common) {
    history_.say(text);
    Result<Answered> said = ask(common);
    if (!said.ok()) {
      history_.take_back();
      return std::move(said).error();
    }
    last_ = said.value().answer;
    history_.answered(*last_);
    if (common.json) return write_output(answer_json(*last_, engine_->facts(), stats_));
    if (stats_ && !common.quiet) note(speed_line(*last_));
    return {};
  }

  Result<Answered> ask(const Common& common) {
    text::ChatRequest chat = TRY(history_.request());
    TRY(generation_.apply(chat));
    Request request = TRY(request_of(chat, *engine_->tokenizer()));
    generation_.apply(request, chat.sampling);
    return answer(*engine_, session_, request, common, !common.json);
  }

  Result<void> obey(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string command = line.substr(0, space);
    const std::size_t from = line.find_first_not_of(' ', space), to = line.find_last_not_of(' ');
    const std::string file = space == std::string::npos || from == std::string::npos
                                 ? std::string()
                                 : line.substr(from, to + 1 - from);
    if (command == "/save" || command == "/load") {
      if (file.empty()) return misuse(command + ": name a file");
      if (command == "/save") return of_file(history_.save(file));
      TRY(history_.load(file));
      note(fmt::format("{}: {} messages", one_line(file), history_.messages()));
      return {};
    }
    if (!file.empty()) return misuse(command + ": takes nothing, or is no command; " + kCommands);
    if (command == "/reset") {
      history_.reset();
      engine_->reset_session(session_);
      last_.reset();
      return {};
    }
    if (command == "/stats") {
      note(loaded());
      note(fmt::format("{} messages", history_.messages()));
      if (last_) note(speed_line(*last_));
      return {};
    }
    return misuse(command + ": no such command; " + kCommands);
  }

  EngineChoices engine_options_;
  GenerationOptions generation_;
  bool stats_ = false;

  Engine* engine_ = nullptr;
  SessionId session_{};
  std::unique_ptr<LineInput> input_;
  ChatHistory history_;
  std::optional<Answer> last_;
};

}  // namespace

std::unique_ptr<Command> chat_command() { return std::make_unique<Chat>(); }

}  // namespace manyspan::app
