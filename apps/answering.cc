#include "apps/answering.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "apps/json_text.h"
#include "apps/own_interrupt.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/terminal.h"
#include "apps/token_ids.h"

namespace manyspan::app {
namespace {

// Writes pieces; the first that can't be written stops the answer.
class Shown {
 public:
  Shown(const Common& common, Cancel& stop)
      : stop_(stop), tty_out_(is_terminal(1)), dim_(!common.quiet && is_terminal(2)), quiet_(common.quiet) {}

  void piece(const OutputPiece& piece) {
    if (!written_.ok()) return;
    switch (piece.kind) {
      case OutputPiece::Kind::content:
        if (dimmed_) aside("\n\n");
        dimmed_ = false;
        return put(piece.text);
      case OutputPiece::Kind::reasoning:
        if (dim_) aside(fmt::format("\x1b[2m{}\x1b[0m", harmless(piece.text)));
        dimmed_ = dim_;
        return;
      case OutputPiece::Kind::call:
      case OutputPiece::Kind::arguments:
        return;  // told whole, at the end
    }
  }

  Result<void> finish(const Answer& answer, bool has_text) {
    if (!has_text) put(fmt::format("{}", fmt::join(numbers(answer.ids), " ")));
    if (dimmed_) aside("\n");
    if (last_ != '\n') put("\n");
    if (!quiet_) {
      for (const ParsedCall& call : answer.calls) {
        aside(fmt::format("call: {} {}\n", one_line(call.name), one_line(call.arguments)));
      }
    }
    return written_;
  }

  const Result<void>& written() const { return written_; }

 private:
  void aside(const std::string& text) { write_error(text); }
  void put(std::string_view text) {
    if (text.empty() || !written_.ok()) return;
    last_ = text.back();
    written_ = write_output(tty_out_ ? harmless(text) : std::string(text));
    if (!written_.ok()) stop_.request();
  }

  Cancel& stop_;
  bool tty_out_, dim_, quiet_;
  bool dimmed_ = false;  // reasoning is on the terminal's last line
  char last_ = 0;
  Result<void> written_;
};

double rate(std::int64_t tokens, double seconds) {
  return tokens > 0 && seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

}  // namespace

Result<Answered> answer(Engine& engine, SessionId session, const Request& request, const Common& common,
                        bool stream) {
  OwnInterrupt interrupt;
  Shown shown(common, interrupt.cancel());
  std::function<void(const OutputPiece&)> sink;
  if (stream) sink = [&](const OutputPiece& piece) { shown.piece(piece); };
  Answered answered;
  answered.answer = TRY(engine.generate(session, request, sink, &interrupt.cancel()));
  if (stream) TRY(shown.finish(answered.answer, engine.tokenizer() != nullptr));
  answered.interrupted = interrupt.cancel().requested();
  return answered;
}

std::string answer_json(const Answer& answer, const EngineFacts& facts, bool timings) {
  const auto generated = static_cast<std::int64_t>(answer.ids.size());
  nlohmann::ordered_json document = {{"ids", numbers(answer.ids)},
                                     {"text", answer.text},
                                     {"reasoning", answer.reasoning},
                                     {"tool_calls", nlohmann::ordered_json::array()},
                                     {"finish_reason", finish_reason(answer)},
                                     {"usage",
                                      {{"prompt_tokens", answer.prompt_tokens},
                                       {"completion_tokens", generated},
                                       {"total_tokens", answer.prompt_tokens + generated}}}};
  for (const ParsedCall& call : answer.calls) {
    document["tool_calls"].push_back({{"name", call.name}, {"arguments", call.arguments}});
  }
  if (timings) {
    document["timings"] = {{"table", facts.table},
                           {"threads", facts.threads},
                           {"load_seconds", facts.load_seconds},
                           {"capabilities_off", facts.capabilities},
                           {"reused_tokens", answer.reused_tokens},
                           {"prefill_seconds", answer.prefill_seconds},
                           {"prefill_tokens_per_second",
                            rate(answer.prompt_tokens - answer.reused_tokens, answer.prefill_seconds)},
                           {"decode_seconds", answer.decode_seconds},
                           {"decode_tokens_per_second", rate(generated - 1, answer.decode_seconds)}};
  }
  return json_text(document);
}

}  // namespace manyspan::app
