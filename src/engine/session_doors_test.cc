// Forking, shortening, saving and loading through the engine's door.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "engine/checkpoint.h"
#include "engine/engine_trial.h"
#include "engine/fingerprint.h"

namespace manyspan {
namespace {

const std::string kTiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";
const std::string kOther = MANYSPAN_SOURCE_DIR "/tests/data/t2_multi";

std::vector<TokenId> joined(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<TokenId> answer(Engine& engine, SessionId session, const std::vector<TokenId>& prompt) {
  const auto given = engine.generate(session, {.prompt = prompt, .max_tokens = 9});
  if (!given.ok()) ADD_FAILURE() << given.error().message();
  return given.value().ids;
}

TEST(SessionDoors, AForkAnswersAsTheOriginalWould) {
  const auto engine = opened({.model = kTiny, .sessions = 3});
  const SessionId one = engine->open_session().value();
  const std::vector<TokenId> prompt = ids(90), more = joined(prompt, ids(20, 31));
  answer(*engine, one, prompt);
  const SessionId two = engine->fork_session(one).value();
  EXPECT_EQ(engine->session_length(two), engine->session_length(one));
  answer(*engine, one, joined(prompt, ids(3, 200)));
  EXPECT_EQ(answer(*engine, two, more), answer(*engine, engine->open_session().value(), more));
  EXPECT_EQ(engine->fork_session(one).error().fault(), Fault::exhausted);
}

TEST(SessionDoors, AShortenedSessionAnswersAsOneThatNeverWentFurther) {
  const auto engine = opened({.model = kTiny, .sessions = 2});
  const SessionId session = engine->open_session().value(), fresh = engine->open_session().value();
  const std::vector<TokenId> prompt = ids(260);
  for (const std::int64_t length : {259, 240, 131, 0}) {
    answer(*engine, session, prompt);
    ASSERT_TRUE(engine->truncate_session(session, length).ok());
    EXPECT_EQ(engine->session_length(session), length);
    std::vector<TokenId> other(prompt.begin(), prompt.begin() + length);
    other = joined(other, ids(12, 77));
    engine->reset_session(fresh);
    EXPECT_EQ(answer(*engine, session, other), answer(*engine, fresh, other)) << length;
  }
  for (const std::int64_t length : {std::int64_t{-1}, engine->session_length(session) + 1}) {
    const std::int64_t before = engine->session_length(session);
    EXPECT_EQ(engine->truncate_session(session, length).error().fault(), Fault::invalid);
    EXPECT_EQ(engine->session_length(session), before);
  }
}

TEST(SessionDoors, ASharedBeginningIsReusedWhereThatIsCheaper) {
  const auto engine = opened({.model = kTiny, .sessions = 2});
  const SessionId session = engine->open_session().value(), fresh = engine->open_session().value();
  const std::vector<TokenId> prompt = ids(400);
  struct Case {
    std::int64_t shared, least_reused, most_reused;
  };
  // A regenerated answer; an edit far back, which replays some 70 tokens; an edit near the beginning.
  for (const Case& c : {Case{400, 399, 399}, Case{250, 140, 180}, Case{40, 0, 0}, Case{0, 0, 0}}) {
    engine->reset_session(session);
    answer(*engine, session, prompt);
    const std::vector<TokenId> kept(prompt.begin(), prompt.begin() + c.shared);
    const std::vector<TokenId> edited = c.shared == 400 ? kept : joined(kept, ids(30, 2));
    const Answer given = engine->generate(session, {.prompt = edited, .max_tokens = 9}).value();
    EXPECT_GE(given.reused_tokens, c.least_reused) << c.shared;
    EXPECT_LE(given.reused_tokens, c.most_reused) << c.shared;
    engine->reset_session(fresh);
    EXPECT_EQ(given.ids, answer(*engine, fresh, edited)) << c.shared;
  }
}

TEST(SessionDoors, ASavedSessionGoesOnInAnotherEngineOfTheSameModel) {
  const TemporaryFolder folder;
  const std::vector<TokenId> prompt = ids(150), more = joined(prompt, ids(9, 100));
  std::vector<TokenId> expected;
  {
    const auto engine = opened({.model = kTiny});
    const SessionId session = engine->open_session().value();
    answer(*engine, session, prompt);
    ASSERT_TRUE(engine->truncate_session(session, 150).ok());
    ASSERT_TRUE(engine->save_session(session, folder / "saved").ok());
    expected = answer(*engine, session, more);
  }
  const auto engine = opened({.model = kTiny, .threads = 1, .step_rows = 17});
  const SessionId session = engine->load_session(folder / "saved").value();
  const Answer given = engine->generate(session, {.prompt = more, .max_tokens = 9}).value();
  EXPECT_EQ(given.reused_tokens, 150);
  EXPECT_EQ(given.ids, expected);
  EXPECT_EQ(engine->load_session(folder / "saved").error().fault(), Fault::exhausted);
  engine->close_session(session);
  EXPECT_EQ(engine->load_session(folder / "none").error().fault(), Fault::not_found);
  EXPECT_FALSE(engine->save_session(engine->open_session().value(), folder / "no/folder").ok());
}

TEST(SessionDoors, AnotherModelOrTableRefusesASavedSession) {
  const TemporaryFolder folder;
  {
    const auto engine = opened({.model = kTiny});
    ASSERT_TRUE(engine->save_session(engine->open_session().value(), folder / "saved").ok());
  }
  EXPECT_EQ(opened({.model = kOther})->load_session(folder / "saved").error().message(),
            (folder / "saved") + ": a session of another model");
  const auto strict = opened({.model = kTiny, .numerics = Numerics::strict});
  EXPECT_EQ(strict->load_session(folder / "saved").error().fault(), Fault::unsupported);
  EXPECT_TRUE(strict->open_session().ok()) << "no session was taken";
}

TEST(Fingerprint, TellsModelsApartByNumbersAndByWeights) {
  const auto one = Checkpoint::open(kTiny).value(), other = Checkpoint::open(kOther).value();
  Blueprint changed = one->blueprint;
  EXPECT_EQ(sum_of_numbers(changed), sum_of_numbers(one->blueprint));
  changed.route_scale *= 2;
  EXPECT_NE(sum_of_numbers(changed), sum_of_numbers(one->blueprint));
  changed = one->blueprint;
  changed.kv_sources.back() += 1;
  EXPECT_NE(sum_of_numbers(changed), sum_of_numbers(one->blueprint));
  EXPECT_NE(sum_of_weights(one->weights).value(), sum_of_weights(other->weights).value());
  EXPECT_EQ(sum_of_weights(one->weights).value(),
            sum_of_weights(Checkpoint::open(kTiny).value()->weights).value());
}

}  // namespace
}  // namespace manyspan
