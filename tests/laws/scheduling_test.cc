// The law of scheduling: however turns meet in steps, and however many steps are under way, each is as alone.
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "session/scheduler.h"
#include "tests/support/law.h"
#include "tests/support/model_rig.h"
#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

struct Told {
  std::vector<TokenId> ids;
  std::vector<float> logprobs;
  std::vector<Ending> endings;  // one, in the end
};

bool same(const Told& a, const Told& b) {
  return a.ids == b.ids && first_difference(a.logprobs, b.logprobs) == -1;
}

struct Wanted {
  std::vector<TokenId> prompt;
  std::size_t tokens;
  kernels::Next wish;
};

std::vector<Wanted> some_turns(const LawCase& law, std::size_t count, std::mt19937& random) {
  std::vector<Wanted> turns;
  for (std::size_t i = 0; i < count; ++i) {
    Wanted w{law_prompt(law.model, i), 1 + random() % 12, {}};
    // One in three is long enough for a cone.
    const std::size_t longest = i % 3 == 0 ? w.prompt.size() : std::min<std::size_t>(w.prompt.size(), 40);
    w.prompt.resize(i % 3 == 0 ? longest : 1 + random() % longest);
    if (i % 2 == 1)
      w.wish = {.temperature = 0.9f, .top_p = 0.95f, .min_p = 0, .top_k = 0, .seed = i, .position = {0}};
    if (i % 2 == 0)
      w.wish = {.temperature = 0, .top_p = 1, .min_p = 0, .top_k = 0, .seed = 0, .position = {0}};
    turns.push_back(std::move(w));
  }
  return turns;
}

Turn turn_of(SessionId session, const Wanted& wanted, Told& told) {
  return {.session = session,
          .prompt = wanted.prompt,
          .wish = wanted.wish,
          .drawn =
              [&told, &wanted](TokenId id, float logprob) {
                told.ids.push_back(id);
                told.logprobs.push_back(logprob);
                return told.ids.size() < wanted.tokens;
              },
          .ended = [&told](Ending ending, const Error*) { told.endings.push_back(ending); }};
}

std::vector<Told> each_alone(const LawCase& law, const std::vector<Wanted>& turns) {
  ModelRig rig(law.model, {.table = law.table});
  std::vector<Told> all;
  for (const Wanted& wanted : turns) {
    Told told;
    Scheduler scheduler(rig.sessions(), RigOptions{}.limits, {.cone = false});
    const SessionId session = rig.sessions().open().value();
    EXPECT_TRUE(scheduler.add(turn_of(session, wanted, told)).ok());
    while (scheduler.work()) {
    }
    rig.sessions().close(session);
    all.push_back(std::move(told));
  }
  return all;
}

struct World {
  std::unique_ptr<SimWorld> sim;
  std::unique_ptr<ModelRig> rig;
  Limits limits{.step_rows = 24, .sampled_rows = 4, .sessions = 6, .context = 512, .spare_window = 3};

  // An even seed comes back to devices, an odd one has them in a row.
  World(const LawCase& law, std::int32_t devices, std::int32_t flights, std::uint64_t seed,
        bool at_once = false) {
    sim = SimWorld::create({.devices = devices, .seed = seed, .at_once = at_once}).value();
    const std::int32_t layers = checkpoint(law.model).blueprint.layers;
    std::vector<std::int32_t> ends;
    for (std::int32_t d = 1; d <= devices; ++d) ends.push_back(layers * d / devices);
    limits.flights = flights;
    std::mt19937 random(static_cast<unsigned>(seed));
    const Placement placement = seed % 2 == 0 ? random_laps(layers, devices, random)
                                              : placement_of_layer_ends(ends, layers, devices).value();
    rig = std::make_unique<ModelRig>(
        law.model,
        RigOptions{.table = law.table, .limits = limits, .placement = placement, .world = sim.get()});
  }
};

// Turns come while others run.
void together_is_as_alone(const LawCase& law, std::int32_t devices, std::int32_t flights, std::uint64_t seed,
                          bool at_once = false) {
  std::mt19937 random(seed);
  const std::vector<Wanted> turns = some_turns(law, 6, random);
  const std::vector<Told> alone = each_alone(law, turns);
  World world(law, devices, flights, seed, at_once);
  Sessions& sessions = world.rig->sessions();
  std::vector<Told> told(turns.size());
  std::vector<SessionId> open;
  Scheduler scheduler(sessions, world.limits, {.chunk = 0, .chunk_beside = 5});
  while (open.size() < turns.size() || scheduler.turns() > 0) {
    if (open.size() < turns.size() && random() % 2 == 0) {
      const std::size_t i = open.size();
      open.push_back(sessions.open().value());
      ASSERT_TRUE(scheduler.add(turn_of(open.back(), turns[i], told[i])).ok());
    }
    scheduler.work();
  }
  EXPECT_FALSE(scheduler.work());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    EXPECT_TRUE(same(alone[i], told[i])) << "turn " << i << ", seed " << seed;
    EXPECT_EQ(told[i].endings, std::vector<Ending>{Ending::enough});
    sessions.close(open[i]);
  }
  EXPECT_EQ(sessions.pages_used(), 0);
  std::int64_t below = 0;
  for (const Wanted& w : turns) below += sessions.cone(std::ssize(w.prompt));
  EXPECT_EQ(scheduler.counts().rows_below, below);
  EXPECT_EQ(scheduler.counts().most_under_way, static_cast<std::size_t>(flights)) << "seed " << seed;
}

class Scheduling : public testing::TestWithParam<LawCase> {};
TEST_P(Scheduling, EveryTurnIsAsAlone) {
  together_is_as_alone(GetParam(), 2, 3, 1);
  together_is_as_alone(GetParam(), 3, 2, 2);
  together_is_as_alone(GetParam(), 4, 7, 4);
}

TEST_P(Scheduling, EveryTurnIsAsAloneWhereDevicesRunAtOnce) {
  together_is_as_alone(GetParam(), 3, 4, 5, true);
  together_is_as_alone(GetParam(), 2, 5, 6, true);
}

// Whoever is cancelled ends at once and leaves the others as they are; so does whoever closes his session.
TEST_P(Scheduling, ACancelledTurnIsMissedByNobody) {
  const LawCase& law = GetParam();
  std::mt19937 random(9);
  std::vector<Wanted> turns = some_turns(law, 4, random);
  const std::vector<Told> alone = each_alone(law, turns);
  turns[1].tokens = turns[2].tokens = 1000;
  World world(law, 2, 3, 9);
  Sessions& sessions = world.rig->sessions();
  std::vector<Told> told(turns.size());
  Scheduler scheduler(sessions, world.limits, {});
  std::vector<SessionId> open;
  std::vector<Scheduler::TurnId> ids;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    open.push_back(sessions.open().value());
    ids.push_back(scheduler.add(turn_of(open[i], turns[i], told[i])).value());
  }
  for (int i = 0; i < 3; ++i) scheduler.work();
  scheduler.cancel(ids[1]);
  sessions.close(open[1]);
  EXPECT_EQ(told[1].endings, std::vector<Ending>{Ending::cancelled});
  for (int i = 0; i < 4; ++i) scheduler.work();
  scheduler.cancel(ids[2]);
  scheduler.cancel(ids[2]);
  while (scheduler.work()) {
  }
  EXPECT_TRUE(same(alone[0], told[0]));
  EXPECT_TRUE(same(alone[3], told[3]));
  for (const std::size_t i : {0, 2, 3}) sessions.close(open[i]);
  EXPECT_EQ(sessions.pages_used(), 0);
}

// A device's fault ends the turns that it met, and no others; they can begin again.
TEST_P(Scheduling, AFaultIsToldToThoseWhomItMet) {
  const LawCase& law = GetParam();
  std::mt19937 random(3);
  const std::vector<Wanted> turns = some_turns(law, 4, random);
  const std::vector<Told> alone = each_alone(law, turns);
  for (std::int64_t after = 0; after < 200; after += 37) {
    World world(law, 3, 2, after);
    Sessions& sessions = world.rig->sessions();
    std::vector<Told> told(turns.size());
    Scheduler scheduler(sessions, world.limits, {});
    std::vector<SessionId> open;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      open.push_back(sessions.open().value());
      ASSERT_TRUE(scheduler.add(turn_of(open[i], turns[i], told[i])).ok());
    }
    world.sim->fail_operation(static_cast<int>(after % 3), after);
    while (scheduler.work()) {
    }
    int failed = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      ASSERT_EQ(told[i].endings.size(), 1u);
      if (told[i].endings[0] == Ending::failed) {
        ++failed;
        EXPECT_EQ(sessions.timeline(open[i]).length(), 0);
        told[i] = {};
        ASSERT_TRUE(scheduler.add(turn_of(open[i], turns[i], told[i])).ok());
      }
    }
    EXPECT_GT(failed, 0) << "after " << after;
    while (scheduler.work()) {
    }
    for (std::size_t i = 0; i < turns.size(); ++i) {
      EXPECT_TRUE(same(alone[i], told[i])) << "turn " << i << " after " << after;
      sessions.close(open[i]);
    }
    EXPECT_EQ(sessions.pages_used(), 0);
  }
}
INSTANTIATE_TEST_SUITE_P(Quick, Scheduling, testing::ValuesIn(mostly_fast(quick_law_cases())), law_name);

class SchedulingSlow : public testing::TestWithParam<LawCase> {};
TEST_P(SchedulingSlow, EveryTurnIsAsAlone) {
  const std::int32_t layers = checkpoint(GetParam().model).blueprint.layers;
  for (const std::int32_t devices : {1, 2, 3, 5, 8}) {
    if (devices > layers) continue;
    for (std::uint64_t seed = 10; seed < 12; ++seed) {
      together_is_as_alone(GetParam(), devices, 1 + devices, seed);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Everywhere, SchedulingSlow, testing::ValuesIn(mostly_fast(law_cases())), law_name);

}  // namespace
}  // namespace manyspan::test
