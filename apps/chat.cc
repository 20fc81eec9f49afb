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
#include "apps/output_file.h"
#include "apps/own_interrupt.h"
#include "apps/quiet_keys.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "engine/prompt.h"

namespace manyspan::app {
namespace {

constexpr const char* kCommands =
    "/reset forgets what was said, /save FILE and /load FILE keep it, /stats tells the speed, /quit ends";

constexpr const char* kBlank = " \t\n";

class Chat final : public Command {
 public:
  About about() const override {
    return {
        "chat", "Talk with a model; what is said stays, until /reset",
        "  manyspan chat\n"
        "  printf 'What hath the perfect shadow?\\n' | manyspan chat --json",
        "Commands, each on a line of its own:\n"
        "  /reset       forget what was said\n"
        "  /save FILE   write the messages to a file\n"
        "  /load FILE   go on from the messages of a file\n"
        "  /stats       tell what was loaded, what is off, and how fast the last answer was\n"
        "  /quit        end\n"
        "At a terminal Ctrl-C ends an answer and keeps the conversation. Where standard input is no "
        "terminal, a command "
        "or\n"
        "a message that fails ends the program with its status; at a terminal it is told, and the chat goes "
        "on.\n\n"};
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
      return Error(Fault::unsupported, engine->facts().model + ": no tokenizer: it can't chat");
    }
    engine_ = engine.get();
    session_ = TRY(engine->open_session());
    input_ = line_input();
    if (input_->interactive() && !common.quiet) note(fmt::format("{}\n{}", loaded(), kCommands));
    if (common.cancel->requested()) return {};
    // One that comes when an answer has just ended was meant for it.
    outlive_interrupts();
    const OwnInterrupt between;
    while (!common.cancel->requested()) {
      const Line line = TRY(next_line(common));
      if (line.kind == Line::Kind::end) break;
      const std::string bare = trimmed(line.text);
      if (line.kind == Line::Kind::interrupted || bare.empty()) continue;
      const bool command = bare.front() == '/' && bare.find('\n') == std::string::npos;
      if (command && bare == "/quit") break;
      const Result<void> done = command ? obey(bare, common) : turn(line.text, common);
      if (done.ok()) continue;
      // A person can try again; a script can't know, and must not go on as if nothing was.
      const bool lasting = done.error().fault() == Fault::device_lost || done.error().message().empty();
      if (!input_->interactive() || lasting) return done;
      note(fmt::format("manyspan: {}", one_line(done.error().message())));
    }
    return {};
  }

 private:
  static std::string trimmed(const std::string& text) {
    const std::size_t from = text.find_first_not_of(kBlank), to = text.find_last_not_of(kBlank);
    return from == std::string::npos ? std::string() : text.substr(from, to + 1 - from);
  }
  void note(const std::string& text) const { write_error(text + "\n"); }
  std::string loaded() const { return one_line(what_was_loaded(engine_->facts())); }

  // Where someone types, Ctrl-C clears the line; else it ends the program.
  Result<Line> next_line(const Common& common) {
    OwnInterrupt interrupt;
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
    const QuietKeys quiet;
    return answer(*engine_, session_, request, common, !common.json);
  }

  Result<void> obey(const std::string& line, const Common& common) {
    const std::size_t space = line.find_first_of(kBlank);
    const std::string command = line.substr(0, space);
    const std::string file = space == std::string::npos ? std::string() : trimmed(line.substr(space));
    if (command == "/save" || command == "/load") {
      if (file.empty()) return misuse(command + ": name a file");
      if (command == "/save") {
        TRY(may_be_written(command, file, engine_options_.model, engine_options_.read_files(common)));
        TRY(of_writing(history_.save(file)));
      } else {
        TRY(history_.load(file));
      }
      if (!common.quiet) {
        note(fmt::format("{}: {} messages {}", one_line(file), history_.messages(),
                         command == "/save" ? "saved" : "loaded"));
      }
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
      for (const std::string& off : what_is_off(engine_->facts())) note(off);
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
