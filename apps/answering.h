// answering — one turn of a model, shown as it comes: the answer on standard output, reasoning dimmed on a terminal.
//
// Errors     as Engine::generate; closed_output() where nobody reads any more
#pragma once

#include <string>

#include "apps/command.h"
#include "base/result.h"
#include "engine/engine.h"

namespace manyspan::app {

struct Answered {
  Answer answer;
  bool interrupted = false;  // by Ctrl-C; what came before it is in the answer
};

// While it runs Ctrl-C ends the answer, not the program. With `stream` text is written as it comes, and ends with a
// line end; else nothing is written.
Result<Answered> answer(Engine& engine, SessionId session, const Request& request, const Common& common,
                        bool stream);

// {"ids", "text", "reasoning", "tool_calls", "finish_reason", "usage"}, and "timings" if asked for; a line.
std::string answer_json(const Answer& answer, const EngineFacts& facts, bool timings);

}  // namespace manyspan::app
