#include "device/sim_races.h"

#include <gtest/gtest.h>

#include "device/sim_trial.h"

namespace manyspan {
namespace {

using Ints = std::vector<std::int32_t>;

TEST(SimRaces, ACopyThatNobodyWaitsForIsARaceInEveryOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimTrial t({.seed = seed});
    const Buffer a = t.ints(0, 4), b = t.ints(1, 4), c = t.ints(1, 4);
    t.main[0]->copy(t.world->device(1), b.as<void>(), t.world->device(0), a.as<void>(), 16);
    t.plus_one(*t.main[1], c, b);
    ASSERT_EQ(SimTrial::fault(*t.main[1]),
              "sim 1 main: plus_one.from races copy.to of sim 0 main: no event orders them");
  }
}

TEST(SimRaces, WritingWhatIsStillReadIsARace) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4), c = t.ints(0, 4);
  t.plus_one(*t.main[0], b, a);
  t.plus_one(*t.side[0], a, c);
  EXPECT_EQ(SimTrial::fault(*t.side[0]),
            "sim 0 side: plus_one.to races plus_one.from of sim 0 main: no event orders them");
}

TEST(SimRaces, TwoReadersAndTwoHalvesAreNone) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 8);
  t.plus_one(*t.main[0], b.as<std::int32_t>(), a.as<std::int32_t>());
  t.plus_one(*t.side[0], b.as<std::int32_t>() + 4, a.as<std::int32_t>());
  EXPECT_TRUE(t.main[0]->finish().ok());
  EXPECT_TRUE(t.side[0]->finish().ok());
}

TEST(SimRaces, TheHostOrdersWhatItHasWaitedFor) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  const auto forked = t.event();
  t.plus_one(*t.side[0], a, b);
  t.side[0]->record(*forked);
  t.main[0]->wait(*forked);  // so that main's finish() covers the side queue too
  EXPECT_TRUE(t.main[0]->finish().ok());
  const auto other = t.world->device(0).queue(QueueKind::copy).value();
  t.plus_one(*other, b, a);
  EXPECT_TRUE(other->finish().ok());
}

TEST(SimRaces, AnEventRecordedBeforeTheWorkDoesNotOrderIt) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  const auto early = t.event();
  t.main[0]->record(*early);
  t.plus_one(*t.main[0], a, b);
  t.side[0]->wait(*early);
  t.plus_one(*t.side[0], b, a);
  EXPECT_NE(SimTrial::fault(*t.side[0]).find("races"), std::string::npos);
}

TEST(SimRaces, AWaitBeforeTheRecordDoesNotOrderIt) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  const auto late = t.event();
  t.side[0]->wait(*late);
  t.plus_one(*t.main[0], a, b);
  t.main[0]->record(*late);
  t.plus_one(*t.side[0], b, a);
  EXPECT_NE(SimTrial::fault(*t.side[0]).find("races"), std::string::npos);
}

TEST(SimRaces, HostBytesOfCopiesAreWatchedToo) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(1, 4);
  Ints host(4);
  t.up(*t.main[0], a, host);
  t.down(*t.main[1], host, b);
  EXPECT_EQ(SimTrial::fault(*t.main[1]),
            "sim 1 main: copy.to races copy.from of sim 0 main: no event orders them");
}

TEST(SimRaces, WorkOfADestroyedQueueRacesWithNothing) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  t.plus_one(*t.main[0], b, a);
  t.main[0].reset();
  t.plus_one(*t.side[0], a, b);
  EXPECT_TRUE(t.side[0]->finish().ok());
}

SimAccess access(std::uint32_t queue, std::uint64_t count, bool writes, const SimExtent& extent,
                 std::uintptr_t at = 1000) {
  SimAccess a;
  a.queue = queue, a.count = count, a.writes = writes;
  return a.over(at, extent, 5000);
}

TEST(SimRaces, ColumnsOfOneMatrixMeetOnlyWhereTheyDo) {
  const SimExtent columns = {.row_bytes = 8, .rows = 10, .stride = 32};
  const SimClock nothing;
  for (const auto& [at, races] : {std::pair{1000, true}, {1007, true}, {1008, false}, {1024, false}}) {
    SimAccesses list;
    EXPECT_FALSE(list.note(access(0, 1, true, columns), nothing, nothing).has_value());
    EXPECT_EQ(list.note(access(1, 1, true, columns, at), nothing, nothing).has_value(), races) << at;
  }
  SimAccesses list;
  list.note(access(0, 1, true, columns), nothing, nothing);
  EXPECT_TRUE(list.note(access(1, 1, false, {.rest = true}, 1200), nothing, nothing).has_value());
}

TEST(SimRaces, OnlyAccessesThatMatterAreKept) {
  SimAccesses list;
  SimClock past;
  const SimClock host;
  for (std::uint64_t n = 1; n <= 100; ++n) {
    past.set(0, 2 * n);
    list.note(access(0, 2 * n - 1, true, {.row_bytes = 64}), past, host);
    list.note(access(0, 2 * n, false, {.row_bytes = 64}), past, host);
  }
  EXPECT_EQ(list.size(), 2u);  // the last write and the last read
  SimClock waited;
  waited.set(0, 200);
  list.note(access(1, 1, true, {.row_bytes = 8}), past, waited);
  EXPECT_EQ(list.size(), 1u);
}

}  // namespace
}  // namespace manyspan
