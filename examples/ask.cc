// ask — asks a model one question, from C++.
//
//   ask models/first-light "What hath the perfect shadow?"
#include <cstdio>
#include <string>

#include "engine/engine.h"
#include "engine/prompt.h"

using namespace manyspan;

namespace {

// Everything that the world can break comes back as a Result; TRY hands an error on to whoever called.
Result<Answer> ask(const std::string& model, const std::string& text) {
  const std::unique_ptr<Engine> engine = TRY(Engine::open({.model = model}));
  if (engine->tokenizer() == nullptr) return Error(Fault::unsupported, model + ": no tokenizer.json");

  text::ChatRequest chat = TRY(question(text));
  TRY(set_thinking(chat, engine->defaults().thinking));
  Request request = TRY(request_of(chat, *engine->tokenizer()));
  request.max_tokens = 64;

  // Text is shown as it comes. A session could be asked again, and would reuse what it has read.
  const SessionId session = TRY(engine->open_session());
  return engine->generate(session, request, [](const OutputPiece& piece) {
    if (piece.kind != OutputPiece::Kind::content) return;
    std::fputs(piece.text.c_str(), stdout);
    std::fflush(stdout);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: ask MODEL QUESTION\n");
    return 2;
  }
  const Result<Answer> answer = ask(argv[1], argv[2]);
  if (!answer.ok()) {
    std::fprintf(stderr, "ask: %s\n", answer.error().message().c_str());
    return 1;
  }
  std::printf("\n");
  std::fprintf(stderr, "%zu tokens, ended by: %s\n", answer.value().ids.size(),
               std::string(finish_reason(answer.value())).c_str());
  return 0;
}
