#include "device/sim_device.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "device/sim_order.h"
#include "device/sim_trial.h"

namespace manyspan {
namespace {

using Ints = std::vector<std::int32_t>;

TEST(SimDevice, NothingRunsBeforeItIsWaitedFor) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  Ints from = {1, 2, 3, 4}, to(4, 0);
  t.up(*t.main[0], a, from);
  t.plus_one(*t.main[0], b, a);
  t.down(*t.main[0], to, b);
  from = {10, 20, 30, 40};  // the copy is late, so it takes these
  EXPECT_EQ(to, Ints(4, 0));
  ASSERT_TRUE(t.main[0]->finish().ok());
  EXPECT_EQ(to, (Ints{11, 21, 31, 41}));
}

TEST(SimDevice, BytesArePoisonUntilTheyAreWritten) {
  SimTrial t;
  const Buffer a = t.ints(1, 4);
  Ints to(4, 0);
  t.down(*t.main[1], to, a);
  ASSERT_TRUE(t.main[1]->finish().ok());
  EXPECT_EQ(to, Ints(4, -1));
}

TEST(SimDevice, AddressesAreAlignedAndNeverGivenOutTwice) {
  SimTrial t;
  std::uintptr_t last = 0;
  for (const std::size_t bytes : {0, 1, 255, 4096, 4097, 100000}) {
    const Buffer b = t.world->device(0).allocate(bytes).value();
    const auto address = reinterpret_cast<std::uintptr_t>(b.as<char>());
    EXPECT_EQ(address % 256, 0u);
    EXPECT_GT(address, last);
    last = address + bytes;
  }
}

TEST(SimDeviceDeathTest, TheHostCannotReadThem) {
  SimTrial t;
  const Buffer a = t.ints(0, 4);
  EXPECT_DEATH(static_cast<void>(*a.as<volatile std::int32_t>()), "");
}

TEST(SimDevice, BuffersAndBytesAreCounted) {
  SimTrial t({.bytes = 1000});
  EXPECT_EQ(t.world->live_buffers(), 0);
  {
    const Buffer a = t.world->device(0).allocate(600).value();
    const Buffer b = t.world->device(1).allocate(600).value();
    EXPECT_EQ(t.world->live_buffers(), 2);
    EXPECT_EQ(t.world->bytes_in_use(0), 600u);
    const auto more = t.world->device(0).allocate(401);
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.error().fault(), Fault::exhausted);
    EXPECT_TRUE(t.world->device(0).allocate(400).ok());
  }
  EXPECT_EQ(t.world->live_buffers(), 0);
  EXPECT_EQ(t.world->bytes_in_use(0), 0u);
  EXPECT_EQ(t.world->counts(0).allocations, 3);
}

TEST(SimDevice, AnAllocationIsRefusedWhenToldTo) {
  SimTrial t;
  t.world->refuse_allocation(1);
  EXPECT_TRUE(t.world->device(0).allocate(8).ok());
  const auto refused = t.world->device(1).allocate(8);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().fault(), Fault::exhausted);
  EXPECT_TRUE(t.world->device(1).allocate(8).ok());
}

TEST(SimDevice, WorkIsCountedByDevice) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  const Ints from(4, 1);
  t.up(*t.main[0], a, from);
  t.plus_one(*t.main[0], b, a);
  ASSERT_TRUE(t.main[0]->finish().ok());
  t.plus_one(*t.side[0], a, b);
  t.plus_one(*t.side[0], b, a);
  ASSERT_TRUE(t.side[0]->finish().ok());
  const SimWorld::Counts c = t.world->counts(0);
  EXPECT_EQ(c.operations_main, 1);
  EXPECT_EQ(c.operations_side, 2);
  EXPECT_EQ(c.copies, 1);
  EXPECT_EQ(c.waits_by_host, 2);
  EXPECT_EQ(t.world->counts(1).copies, 0);
}

TEST(SimDevice, ADryWorldCountsAndDoesNothing) {
  SimTrial t({.dry = true});
  const Buffer a = t.ints(0, 4);
  const auto done = t.event();
  const Ints from(4, 1);
  Ints to(4, 7);
  t.up(*t.main[0], a, from);
  t.plus_one(*t.main[0], nullptr, nullptr);
  t.main[0]->record(*done);
  t.side[0]->wait(*done);
  t.down(*t.side[0], to, a);
  ASSERT_TRUE(t.main[0]->finish().ok());
  ASSERT_TRUE(t.side[0]->finish().ok());
  EXPECT_EQ(to, Ints(4, 7));
  const SimWorld::Counts c = t.world->counts(0);
  EXPECT_EQ(c.operations_main, 1);
  EXPECT_EQ(c.copies, 2);
  EXPECT_EQ(c.waits_by_host, 2);
}

// Two queues that nothing orders: an order's number, and how often the one came wholly before the other.
struct Outcome {
  std::uint64_t order;
  std::int32_t seen;
};
Outcome two_queues(std::uint64_t seed) {
  SimTrial t({.seed = seed, .detect_races = false});
  const Buffer a = t.ints(0, 4);
  const Ints first(4, 1);
  Ints seen(4, 0);
  t.up(*t.main[0], a, first);
  for (int i = 0; i < 5; ++i) t.plus_one(*t.side[0], a, a);
  t.down(*t.side[0], seen, a);
  t.world->drain();
  return {t.world->order(), seen[0]};
}

TEST(SimDevice, TheSameSeedRunsTheSameOrder) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(two_queues(seed).order, two_queues(seed).order);
  }
}

TEST(SimDevice, SeedsTryEveryOrder) {
  bool all_before = false, all_after = false, between = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::int32_t seen = two_queues(seed).seen;
    all_before |= seen == 6, all_after |= seen == 4, between |= seen != 6 && seen != 4;
  }
  EXPECT_TRUE(all_before && all_after && between);
}

// A fair draw among three would do either about once in 10^10 seeds.
TEST(SimOrder, AQueueIsStarvedOrFavouredForLong) {
  const std::vector<std::uint32_t> queues = {2, 5, 7};
  for (const std::uint32_t queue : queues) {
    int starved = 0, favoured = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SimOrder order(seed);
      int without = 0, only = 0, most_without = 0, most_only = 0;
      for (int i = 0; i < 1000; ++i) {
        const bool picked = order.pick(queues) == queue;
        without = picked ? 0 : without + 1, only = picked ? only + 1 : 0;
        most_without = std::max(most_without, without), most_only = std::max(most_only, only);
      }
      starved += most_without >= 60, favoured += most_only >= 60;
    }
    EXPECT_GT(starved, 10) << queue;
    EXPECT_GT(favoured, 10) << queue;
  }
}

TEST(SimDevice, AnEventOrdersQueuesOfTwoDevices) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimTrial t({.seed = seed});
    const Buffer a = t.ints(0, 4), b = t.ints(1, 4), c = t.ints(1, 4);
    const Ints from = {1, 2, 3, 4};
    Ints to(4, 0);
    const auto there = t.event();
    t.up(*t.main[0], a, from);
    t.main[0]->copy(t.world->device(1), b.as<void>(), t.world->device(0), a.as<void>(), 16);
    t.main[0]->record(*there);
    t.main[1]->wait(*there);
    t.plus_one(*t.main[1], c, b);
    t.down(*t.main[1], to, c);
    ASSERT_TRUE(t.main[1]->finish().ok());
    ASSERT_EQ(to, (Ints{2, 3, 4, 5}));
  }
}

// An event is recorded again before its first waiter has run: that one waits for the first record only, so it
// does not see, or wait for, what comes between the two.
TEST(SimDevice, AWaitIsForTheRecordBeforeIt) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimTrial t({.seed = seed});
    const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
    const Ints from = {1, 2, 3, 4};
    Ints to(4, 0);
    const auto again = t.event(), back = t.event();
    t.up(*t.main[0], a, from);
    t.main[0]->record(*again);
    t.side[0]->wait(*again);
    t.plus_one(*t.side[0], b, a);
    t.side[0]->record(*back);
    t.main[0]->wait(*back);
    t.main[0]->record(*again);  // would never happen if the side queue waited for it
    t.side[0]->wait(*again);
    t.down(*t.side[0], to, b);
    ASSERT_TRUE(t.side[0]->finish().ok());
    ASSERT_EQ(to, (Ints{2, 3, 4, 5}));
  }
}

// The first record of an event lets nobody pass who waits for its second.
TEST(SimDevice, AWaitIsForTheLastRecordBeforeIt) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimTrial t({.seed = seed});
    const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
    const Ints from = {1, 2, 3, 4};
    Ints to(4, 0);
    const auto again = t.event();
    t.main[0]->record(*again);
    t.side[0]->wait(*again);
    t.up(*t.main[0], a, from);
    t.plus_one(*t.main[0], b, a);
    t.main[0]->record(*again);
    t.side[0]->wait(*again);
    t.down(*t.side[0], to, b);
    ASSERT_TRUE(t.side[0]->finish().ok());
    ASSERT_EQ(to, (Ints{2, 3, 4, 5}));
  }
}

TEST(SimDevice, AWaitForAnEventThatWasNeverRecordedPasses) {
  SimTrial t;
  const auto never = t.event();
  t.main[0]->wait(*never);
  EXPECT_TRUE(t.main[0]->finish().ok());
}

}  // namespace
}  // namespace manyspan
