// Many requests at once: each is answered as alone, whatever the others do or suffer.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine_trial.h"
#include "engine/prompt.h"

namespace manyspan {
namespace {

const std::string kBundled = MANYSPAN_SOURCE_DIR "/models/first-light";
const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";

// One thread runs the model, so that it does not wait for others of its own on a busy machine.
std::unique_ptr<Engine> opened_alone(EngineOptions options) {
  options.threads = 1;
  return opened(options);
}

std::vector<Request> different_requests(int count) {
  std::vector<Request> all;
  for (int i = 0; i < count; ++i) {
    all.push_back({.prompt = ids(3 + i * 37 % 150, i), .max_tokens = 5 + i * 9 % 30, .past_end = i % 2 == 0});
    if (i % 3 == 1) all.back().sampling = {.temperature = 0.8f, .top_p = 0.9f, .seed = 7u + i};
  }
  return all;
}

std::vector<std::vector<TokenId>> each_alone(const std::vector<Request>& requests) {
  const auto engine = opened_alone({.model = kTiny});
  const SessionId session = engine->open_session().value();
  std::vector<std::vector<TokenId>> all;
  for (const Request& request : requests) {
    engine->reset_session(session);
    all.push_back(engine->generate(session, request).value().ids);
  }
  return all;
}

std::vector<std::vector<TokenId>> together(Engine& engine, const std::vector<Request>& requests) {
  std::vector<std::vector<TokenId>> got(requests.size());
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    callers.emplace_back([&, i] {
      const SessionId session = engine.open_session().value();
      const auto answer = engine.generate(session, requests[i]);
      if (answer.ok()) got[i] = answer.value().ids;
      engine.close_session(session);
    });
  }
  callers.clear();
  return got;
}

Request asking(const Engine& engine) {
  text::ChatRequest chat = question("What is the sign of Orlam Belnes?").value();
  EXPECT_TRUE(set_thinking(chat, "off").ok());
  return request_of(chat, *engine.tokenizer()).value();
}

// Answers for ever, until it is cancelled.
struct Endless {
  Request request;
  Cancel cancel;
  std::latch running{1};
  std::atomic<bool> told = false;

  explicit Endless(const Engine& engine) {
    request = asking(engine);
    request.past_end = true;
  }
  Result<Answer> answer(Engine& engine, SessionId session) {
    const auto sink = [&](const OutputPiece&) {
      if (!told.exchange(true)) running.count_down();
    };
    return engine.generate(session, request, sink, &cancel);
  }
};

TEST(ManyRequests, AreAnsweredTogetherAsAlone) {
  const auto requests = different_requests(6);
  const auto expected = each_alone(requests);
  EXPECT_EQ(together(*opened_alone({.model = kTiny, .sessions = 6}), requests), expected);
  EXPECT_EQ(
      together(*opened_alone({.model = kTiny, .sessions = 6, .step_rows = 16, .chunk_beside = 3}), requests),
      expected);
  EXPECT_EQ(together(*opened_alone({.model = kTiny, .devices = "sim:3", .sessions = 6}), requests), expected);
}

std::atomic<std::int64_t> most_sampled;

TEST(ManyRequests, ShareSteps) {
  static const kernels::Table* const whole = kernels::host_tables().back();
  kernels::Table watched = *whole;
  watched.sample.enqueue = [](Queue& queue, const kernels::Sample& p) {
    most_sampled = std::max<std::int64_t>(most_sampled, *p.used);
    whole->sample.enqueue(queue, p);
  };
  most_sampled = 0;
  const auto engine = opened_alone({.model = kBundled, .kernels = &watched, .sessions = 2});
  const SessionId one = engine->open_session().value(), other = engine->open_session().value();
  Endless endless(*engine);
  std::jthread caller([&] { EXPECT_EQ(endless.answer(*engine, one).value().finish, Finish::cancelled); });
  endless.running.wait();
  EXPECT_EQ(most_sampled, 1);
  EXPECT_TRUE(engine->generate(other, {.prompt = ids(5, 1), .max_tokens = 4}).ok());
  EXPECT_EQ(most_sampled, 2);
  endless.cancel.request();
}

TEST(ManyRequests, OneThatIsCancelledChangesNoOther) {
  const auto requests = different_requests(3);
  const auto engine = opened_alone({.model = kBundled, .sessions = 4});
  const auto expected = together(*engine, requests);
  const SessionId session = engine->open_session().value();
  Endless endless(*engine);
  std::jthread caller([&] { EXPECT_EQ(endless.answer(*engine, session).value().finish, Finish::cancelled); });
  endless.running.wait();
  std::jthread canceller([&] { endless.cancel.request(); });
  EXPECT_EQ(together(*engine, requests), expected);
}

TEST(ManyRequests, ASecondOneForABusySessionIsRefusedAndTheFirstGoesOn) {
  const auto engine = opened_alone({.model = kBundled, .sessions = 2});
  const SessionId session = engine->open_session().value();
  Endless endless(*engine);
  std::jthread caller([&] { EXPECT_EQ(endless.answer(*engine, session).value().finish, Finish::cancelled); });
  endless.running.wait();
  const auto second = engine->generate(session, {.prompt = ids(5, 1), .max_tokens = 4});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().fault(), Fault::invalid);
  EXPECT_EQ(engine->truncate_session(session, 3).error().fault(), Fault::invalid);
  const SessionId fork = engine->fork_session(session).value();
  EXPECT_GT(engine->session_length(fork), std::ssize(endless.request.prompt) - 1);
  endless.cancel.request();
}

TEST(ManyRequests, ASinkThatIsSlowDelaysNobodyElse) {
  const auto engine = opened_alone({.model = kBundled, .sessions = 2});
  const SessionId slow = engine->open_session().value(), quick = engine->open_session().value();
  const Request request = asking(*engine);
  std::latch other_done(1);
  std::string streamed, answered;
  std::jthread caller([&] {
    const auto sink = [&](const OutputPiece& piece) {
      other_done.wait();
      if (piece.kind == OutputPiece::Kind::content) streamed += piece.text;
    };
    answered = engine->generate(slow, request, sink).value().text;
  });
  const std::string expected = engine->generate(quick, request).value().text;
  other_done.count_down();
  caller.join();
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(answered, expected);
  EXPECT_EQ(streamed, expected);
}

TEST(ManyRequests, ASinkThatThrowsEndsItsOwnAndEmptiesTheSession) {
  const auto engine = opened_alone({.model = kBundled});
  const SessionId session = engine->open_session().value();
  Endless endless(*engine);
  const auto sink = [](const OutputPiece&) { throw std::runtime_error("full"); };
  EXPECT_THROW((void)engine->generate(session, endless.request, sink), std::runtime_error);
  EXPECT_EQ(engine->session_length(session), 0);
  EXPECT_TRUE(engine->generate(session, {.prompt = ids(5, 1), .max_tokens = 4}).ok());
}

TEST(ManyRequests, ClosingASessionEndsItsRequest) {
  const auto engine = opened_alone({.model = kBundled});
  const SessionId session = engine->open_session().value();
  Endless endless(*engine);
  std::jthread caller([&] { EXPECT_EQ(endless.answer(*engine, session).value().finish, Finish::cancelled); });
  endless.running.wait();
  engine->close_session(session);
  EXPECT_TRUE(engine->open_session().ok());
}

TEST(ManyRequests, TheEnginesEndCancelsThemAll) {
  auto engine = opened_alone({.model = kBundled, .sessions = 3});
  std::vector<std::unique_ptr<Endless>> endless;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 3; ++i) {
    endless.push_back(std::make_unique<Endless>(*engine));
    callers.emplace_back([&, inside = engine.get(), e = endless.back().get()] {
      const SessionId session = inside->open_session().value();
      EXPECT_EQ(e->answer(*inside, session).value().finish, Finish::cancelled);
    });
  }
  for (const auto& e : endless) e->running.wait();
  engine.reset();
}

const kernels::Table* sound;

TEST(ManyRequests, AnErrorIsToldToWhomItMeets) {
  sound = kernels::host_tables().back();
  kernels::Table broken = *sound;
  broken.name = "broken";
  broken.sample.enqueue = [](Queue& queue, const kernels::Sample& p) {
    std::vector<float> logits(p.logits.data, p.logits.data + p.logits.rows * p.logits.cols);
    for (std::int64_t row = 0; row < p.logits.rows; ++row) {
      if (p.wishes[row].position.value >= 40) logits[row * p.logits.cols + 7] = std::nanf("");
    }
    kernels::Sample changed = p;
    changed.logits.data = logits.data();
    sound->sample.enqueue(queue, changed);
  };
  std::vector<Request> requests;
  for (int i = 0; i < 4; ++i)
    requests.push_back({.prompt = ids(10, i), .max_tokens = i == 2 ? 60 : 20, .past_end = true});
  auto expected = each_alone(requests);
  expected[2].clear();
  EXPECT_EQ(together(*opened_alone({.model = kTiny, .kernels = &broken, .sessions = 4}), requests), expected);
}

TEST(ManyRequests, LogitsAreAskedForBetweenTheirSteps) {
  const LogitsRequest asked{.ids = ids(30, 3), .prompt = 25, .chunks = {9, 9, 7}};
  const auto engine = opened_alone({.model = kBundled, .sessions = 2, .every_logit = true});
  const auto expected = engine->logits(asked).value();
  const SessionId session = engine->open_session().value();
  Endless endless(*engine);
  std::jthread caller([&] { EXPECT_EQ(endless.answer(*engine, session).value().finish, Finish::cancelled); });
  endless.running.wait();
  const auto got = engine->logits(asked);
  endless.cancel.request();
  ASSERT_TRUE(got.ok()) << got.error().message();
  EXPECT_EQ(got.value().prefill, expected.prefill);
  EXPECT_EQ(got.value().decode, expected.decode);
}

}  // namespace
}  // namespace manyspan
