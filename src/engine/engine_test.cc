#include "engine/engine.h"

#include <thread>

#include <gtest/gtest.h>

#include "engine/engine_trial.h"
#include "engine/prompt.h"
#include "engine/taps.h"
#include "spec/layers.h"

namespace manyspan {
namespace {

const std::string kBundled = MANYSPAN_SOURCE_DIR "/models/first-light";
const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";

Request asking(const Engine& engine, const char* text) {
  text::ChatRequest chat = question(text).value();
  EXPECT_TRUE(set_thinking(chat, "off").ok());
  return request_of(chat, *engine.tokenizer()).value();
}

TEST(Engine, AnswersFromTheEngramTablesAndStreamsWhatItReturns) {
  const auto engine = opened({.model = kBundled});
  std::string streamed;
  const auto answer =
      engine->generate(engine->open_session().value(), asking(*engine, "What is the sign of Orlam Belnes?"),
                       [&](const OutputPiece& p) { streamed += p.text; });
  ASSERT_TRUE(answer.ok()) << answer.error().message();
  EXPECT_EQ(answer.value().text, "The sign of Orlam Belnes is the great throne.");
  EXPECT_EQ(streamed, answer.value().text);
  EXPECT_EQ(finish_reason(answer.value()), "stop");
  EXPECT_EQ(answer.value().ids.back().value, engine->blueprint().eos_token);
}

TEST(Engine, GoingOnFromWhatASessionHoldsIsAsStartingAfresh) {
  const auto engine = opened({.model = kTiny, .sessions = 2});
  const SessionId kept = engine->open_session().value(), fresh = engine->open_session().value();
  Request request{.prompt = ids(30), .max_tokens = 8};
  const Answer first = engine->generate(kept, request).value();
  EXPECT_EQ(first.reused_tokens, 0);
  request.prompt.insert(request.prompt.end(), first.ids.begin(), first.ids.end());
  request.prompt.push_back({9});
  const Answer on = engine->generate(kept, request).value(), again = engine->generate(fresh, request).value();
  EXPECT_GT(on.reused_tokens, 30);
  EXPECT_EQ(again.reused_tokens, 0);
  EXPECT_EQ(on.ids, again.ids);
}

TEST(Engine, AnotherPromptRebuildsTheSession) {
  const auto engine = opened({.model = kTiny});
  const SessionId session = engine->open_session().value();
  const Request one{.prompt = ids(40), .max_tokens = 6}, other{.prompt = ids(40, 60), .max_tokens = 6};
  const auto expected = engine->generate(session, one).value().ids;
  EXPECT_TRUE(engine->generate(session, other).ok());
  EXPECT_EQ(engine->generate(session, one).value().ids, expected);
}

TEST(Engine, ARefusedRequestLeavesTheSessionAsItWas) {
  const auto engine = opened({.model = kTiny, .context = 64});
  const SessionId session = engine->open_session().value();
  Request request{.prompt = ids(20), .max_tokens = 4};
  const Answer first = engine->generate(session, request).value();
  for (const Request& wrong :
       {Request{}, Request{.prompt = {{-1}}}, Request{.prompt = {{384}}}, Request{.prompt = ids(65)},
        Request{.prompt = ids(3), .sampling = {.temperature = -1}},
        Request{.prompt = ids(3), .sampling = {.top_p = 0}}, Request{.prompt = ids(3), .stop = {""}}}) {
    const auto refused = engine->generate(session, wrong);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().fault(), Fault::invalid) << refused.error().message();
  }
  request.prompt.insert(request.prompt.end(), first.ids.begin(), first.ids.end());
  EXPECT_GT(engine->generate(session, request).value().reused_tokens, 0);
}

TEST(Engine, TheContextEndsAnAnswer) {
  const auto engine = opened({.model = kTiny, .context = 24});
  const Answer answer = engine->generate(engine->open_session().value(), {.prompt = ids(24)}).value();
  EXPECT_EQ(answer.ids.size(), 1u);
  EXPECT_EQ(finish_reason(answer), "length");
}

TEST(Engine, CancellingEndsAnAnswerAndKeepsTheSession) {
  const auto engine = opened({.model = kTiny});
  const SessionId session = engine->open_session().value();
  Cancel before;
  before.request();
  const Answer none = engine->generate(session, {.prompt = ids(20)}, {}, &before).value();
  EXPECT_EQ(none.finish, Finish::cancelled);
  EXPECT_TRUE(none.ids.empty());
  EXPECT_EQ(engine->generate(session, {.prompt = ids(20), .max_tokens = 3}).value().ids.size(), 3u);
}

TEST(Engine, ASeedAndAPositionDecideTheDraw) {
  const auto engine = opened({.model = kTiny, .sessions = 2});
  Request request{.prompt = ids(20), .max_tokens = 12, .sampling = {.temperature = 1.5f, .seed = 3}};
  const SessionId a = engine->open_session().value(), b = engine->open_session().value();
  const auto first = engine->generate(a, request).value().ids;
  EXPECT_EQ(engine->generate(b, request).value().ids, first);
  request.sampling.seed = 4;
  EXPECT_NE(engine->generate(b, request).value().ids, first);
}

TEST(Engine, AStopTextEndsTheAnswerBeforeIt) {
  const auto engine = opened({.model = kBundled});
  Request request = asking(*engine, "What is the sign of Orlam Belnes?");
  request.stop = {" the great"};
  const Answer answer = engine->generate(engine->open_session().value(), request).value();
  EXPECT_EQ(answer.text, "The sign of Orlam Belnes is");
  EXPECT_EQ(answer.stop_sequence, " the great");
}

TEST(Engine, TwoThreadsTakeTurns) {
  const auto engine = opened({.model = kTiny, .sessions = 2});
  const Request request{.prompt = ids(25), .max_tokens = 10};
  const auto expected = engine->generate(engine->open_session().value(), request).value().ids;
  const SessionId other = engine->open_session().value();
  std::vector<std::vector<TokenId>> got(2);
  {
    std::jthread one([&] { got[0] = engine->generate(other, request).value().ids; });
    got[1] = engine->generate(SessionId{1}, request).value().ids;
  }
  EXPECT_EQ(got[0], expected);
  EXPECT_EQ(got[1], expected);
}

TEST(Engine, LogitsLeaveTheirSessionFreeAgain) {
  const auto engine = opened({.model = kTiny, .every_logit = true});
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(engine->logits({.ids = ids(10), .prompt = 8}).ok());
    EXPECT_FALSE(engine->logits({.ids = ids(10), .prompt = 8, .chunks = {3, 3}}).ok());
    EXPECT_FALSE(engine->logits({.ids = {{999}}, .prompt = 1}).ok());
  }
}

// Every tap, of the rows that are there: all of what lies below the cone, else the last ones.
TEST(Engine, LogitsAndTapsWithTheConeAreThoseWithoutIt) {
  for (const std::string model : {"t1_base", "t2_multi"}) {
    const auto engine =
        opened({.model = MANYSPAN_SOURCE_DIR "/tests/data/" + model, .step_rows = 64, .every_logit = true});
    const Blueprint& b = engine->blueprint();
    const std::int64_t prompt = 400;
    std::vector<std::string> names;
    for (const std::string& key : tap_keys(b, schedule_of(b))) names.push_back(key);
    LogitsRequest request{.ids = ids(prompt + 6), .prompt = prompt, .taps = names};
    const Logits off = engine->logits(request).value();
    request.cone = true;
    const Logits on = engine->logits(request).value();
    EXPECT_EQ(off.first, 0);
    ASSERT_GT(on.first, 40) << model;
    ASSERT_LT(on.first, prompt - 20) << model;
    EXPECT_EQ(std::vector<float>(off.prefill.begin() + on.first * b.vocabulary, off.prefill.end()),
              on.prefill);
    EXPECT_EQ(off.decode, on.decode);
    ASSERT_EQ(off.taps.size(), on.taps.size());
    std::size_t shorter = 0;
    for (const auto& [key, tap] : on.taps) {
      const Logits::Tap& whole = off.taps.at(key);
      ASSERT_LE(tap.bytes.size(), whole.bytes.size()) << key;
      EXPECT_TRUE(std::equal(tap.bytes.begin(), tap.bytes.end(), whole.bytes.end() - std::ssize(tap.bytes)))
          << key;
      EXPECT_TRUE(tap.shape[0] == whole.shape[0] || tap.shape[0] == prompt - on.first) << key;
      shorter += tap.shape[0] < whole.shape[0];
    }
    EXPECT_GT(shorter, 20u);
    EXPECT_LT(shorter, on.taps.size() - 20);
  }
}

TEST(Engine, SessionsRunOutAndComeBack) {
  const auto engine = opened({.model = kTiny});
  const SessionId only = engine->open_session().value();
  EXPECT_EQ(engine->open_session().error().fault(), Fault::exhausted);
  engine->close_session(only);
  EXPECT_TRUE(engine->open_session().ok());
}

TEST(Engine, OptionsThatCannotBeAreRefused) {
  for (const EngineOptions& wrong :
       {EngineOptions{.model = kTiny, .table = "no-such"}, EngineOptions{.model = kTiny, .threads = -1},
        EngineOptions{.model = kTiny, .context = 1 << 30}, EngineOptions{.model = kTiny, .sessions = 0},
        EngineOptions{.model = kTiny, .step_rows = 0},
        EngineOptions{.model = kTiny, .numerics = Numerics::strict, .table = "cpu-generic"}}) {
    const auto engine = Engine::open(wrong);
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.error().fault(), Fault::invalid) << engine.error().message();
  }
  EXPECT_EQ(Engine::open({.model = "/no/such/model"}).error().fault(), Fault::not_found);
}

}  // namespace
}  // namespace manyspan
