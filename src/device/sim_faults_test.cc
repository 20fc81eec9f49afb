#include <gtest/gtest.h>

#include "device/sim_trial.h"

namespace manyspan {
namespace {

using Ints = std::vector<std::int32_t>;

TEST(SimFaults, AnAddressOfAnotherDeviceIsNamed) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(1, 4);
  t.plus_one(*t.main[1], b, a);
  EXPECT_EQ(SimTrial::fault(*t.main[1]), "sim 1 main: plus_one.from is an address of sim 0");
  Ints host(4);
  t.main[0]->copy(t.world->device(0), a.as<void>(), t.world->device(0), b.as<void>(), 16);
  EXPECT_EQ(SimTrial::fault(*t.main[0]), "sim 0 main: copy.from is an address of sim 1");
  t.main[0]->copy(t.host, a.as<void>(), t.host, host.data(), 16);
  EXPECT_EQ(SimTrial::fault(*t.main[0]), "sim 0 main: copy.to is an address of sim 0");
}

TEST(SimFaults, HostFreedAndForeignMemoryIsNamed) {
  SimTrial t;
  const Buffer a = t.ints(0, 4);
  Ints host(4);
  t.plus_one(*t.main[0], a.as<std::int32_t>(), host.data());
  EXPECT_EQ(SimTrial::fault(*t.main[0]), "sim 0 main: plus_one.from is an address of the host, or of nobody");
  {
    const Buffer freed = t.ints(0, 4);
    t.plus_one(*t.main[0], freed, a);
  }
  EXPECT_EQ(SimTrial::fault(*t.main[0]), "sim 0 main: plus_one.to is freed memory of sim 0");
  t.plus_one(*t.main[0], a.as<std::int32_t>() + 1000, a.as<std::int32_t>());
  EXPECT_EQ(SimTrial::fault(*t.main[0]), "sim 0 main: plus_one.to is an address that sim 0 never gave out");
  t.plus_one(*t.main[0], a.as<std::int32_t>() + 1, a.as<std::int32_t>());
  EXPECT_EQ(SimTrial::fault(*t.main[0]),
            "sim 0 main: plus_one.to wants 16 bytes where 12 of a buffer of sim 0 are left");
  t.plus_one(*t.main[0], nullptr, a.as<std::int32_t>());
  EXPECT_EQ(SimTrial::fault(*t.main[0]), "sim 0 main: plus_one.to is null");
}

TEST(SimFaults, AnOperationFailsWhenToldToAndIsToldOnce) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  const Ints from(4, 1);
  Ints to(4, 7);
  t.world->fail_operation(0, 1);
  t.up(*t.main[0], a, from);
  t.plus_one(*t.main[0], b, a);
  t.plus_one(*t.main[0], b, b);
  t.down(*t.main[0], to, b);
  const Result<void> done = t.main[0]->finish();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().fault(), Fault::device_lost);
  EXPECT_EQ(done.error().message(), "sim 0 main: plus_one fails as it was told to");
  EXPECT_EQ(to, Ints(4, 7)) << "what came after it is skipped";
  t.down(*t.main[0], to, b);
  ASSERT_TRUE(t.main[0]->finish().ok()) << "the device works again";
  EXPECT_EQ(to, Ints(4, 2));
}

TEST(SimFaults, WhatWasEnqueuedBeforeTheFaultWasToldIsSkipped) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
  const auto failed = t.event();
  Ints to(4, 7);
  t.world->fail_operation(0, 0);
  t.plus_one(*t.main[0], b, a);
  t.main[0]->record(*failed);
  t.side[0]->wait(*failed);
  t.down(*t.side[0], to, b);
  EXPECT_FALSE(t.main[0]->finish().ok());
  EXPECT_TRUE(t.side[0]->finish().ok());
  EXPECT_EQ(to, Ints(4, 7));
}

TEST(SimFaults, OtherDevicesGoOnAndSeeOldBytes) {
  SimTrial t;
  const Buffer a = t.ints(0, 4), b = t.ints(1, 4);
  const auto there = t.event();
  Ints to(4, 7);
  t.world->fail_operation(0, 0);
  t.plus_one(*t.main[0], a, a);
  t.main[0]->copy(t.world->device(1), b.as<void>(), t.world->device(0), a.as<void>(), 16);
  t.main[0]->record(*there);
  t.main[1]->wait(*there);
  t.down(*t.main[1], to, b);
  EXPECT_TRUE(t.main[1]->finish().ok());
  EXPECT_EQ(to, Ints(4, -1));
  EXPECT_FALSE(t.main[0]->finish().ok());
}

TEST(SimFaults, ALateCopyRunsWhenNothingElseCan) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimTrial t({.seed = seed});
    const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
    const Ints from(4, 1);
    Ints to(4, 7);
    const auto there = t.event();
    t.world->delay_copy(0, 0);
    t.up(*t.side[0], a, from);
    t.side[0]->record(*there);
    t.plus_one(*t.main[0], b, b);
    ASSERT_TRUE(t.main[0]->finish().ok());  // does not need the copy, so it has not run
    t.main[0]->wait(*there);
    t.plus_one(*t.main[0], b, a);
    t.down(*t.main[0], to, b);
    ASSERT_TRUE(t.main[0]->finish().ok());
    ASSERT_EQ(to, Ints(4, 2));
  }
}

TEST(SimFaults, ALateCopyTakesHostBytesThatWereChangedTooEarly) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SimTrial t({.seed = seed});
    const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
    Ints from(4, 1), to(4, 7);
    t.world->delay_copy(0, 0);
    t.up(*t.side[0], a, from);
    t.plus_one(*t.main[0], b, b);
    ASSERT_TRUE(t.main[0]->finish().ok());
    from.assign(4, 9);
    t.down(*t.side[0], to, a);
    ASSERT_TRUE(t.side[0]->finish().ok());
    ASSERT_EQ(to, Ints(4, 9));
  }
}

TEST(SimFaults, AForgottenCopyIsNotMadeAndIsLostWhereItsBytesWereNew) {
  for (const std::int32_t there : {1, 5}) {
    SimTrial t;
    const Buffer a = t.ints(0, 4);
    const Ints before(4, there), from(4, 1);
    Ints to(4, 0);
    t.up(*t.main[0], a, before);
    t.world->forget_copy(0, 0);
    t.up(*t.main[0], a, from);
    t.down(*t.main[0], to, a);
    ASSERT_TRUE(t.main[0]->finish().ok());
    EXPECT_EQ(to, before);
    EXPECT_EQ(t.world->forgotten().copies, 1);
    EXPECT_EQ(t.world->forgotten().lost_copies, there == 1 ? 0 : 1);
    EXPECT_EQ(t.world->forgotten().what, "copy from the host to sim 0 by sim 0 main");
  }
}

TEST(SimFaults, AForgottenWaitIsARaceUnlessSomethingElseOrders) {
  for (const bool twice : {false, true}) {
    SimTrial t;
    const Buffer a = t.ints(0, 4), b = t.ints(0, 4);
    const auto done = t.event();
    const Ints from(4, 1);
    t.up(*t.side[0], a, from);
    t.side[0]->record(*done);
    if (twice) t.main[0]->wait(*done);
    t.world->forget_wait(0, 0);
    t.main[0]->wait(*done);
    t.plus_one(*t.main[0], b, a);
    EXPECT_EQ(t.main[0]->finish().ok(), twice);
    EXPECT_EQ(t.world->forgotten().waits, 1);
    EXPECT_EQ(t.world->forgotten().lost_waits, twice ? 0 : 1);
    EXPECT_EQ(t.world->forgotten().what, "sim 0 main's wait for sim 0 side");
  }
}

TEST(SimFaults, AWaitForAQueueThatIsGoneIsToldAsSuch) {
  SimTrial t;
  const auto never = t.event();
  const Buffer a = t.ints(1, 4);
  Ints to(4, 7);
  t.main[0]->record(*never);
  t.main[0].reset();
  t.main[1]->wait(*never);
  t.down(*t.main[1], to, a);
  EXPECT_EQ(SimTrial::fault(*t.main[1]),
            "sim 1 main: waits for ever for an event of sim 0 main, a queue that is gone");
  EXPECT_EQ(to, Ints(4, 7));
  EXPECT_TRUE(t.main[1]->finish().ok());
}

}  // namespace
}  // namespace manyspan
