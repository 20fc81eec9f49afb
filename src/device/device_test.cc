#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device/host_device.h"

namespace manyspan {
namespace {

TEST(Workers, EveryIndexIsVisitedOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    Workers team(threads);
    for (const int count : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> visits(count);
      team.for_each(count, [&](std::int64_t i, int) { visits[i].fetch_add(1); });
      for (const auto& v : visits) EXPECT_EQ(v.load(), 1);
    }
  }
}

TEST(Workers, AParkedTeamWakesUp) {
  Workers team(3);
  std::atomic<std::int64_t> sum{0};
  for (int round = 0; round < 20; ++round) {
    team.for_each(100, [&](std::int64_t i, int) { sum.fetch_add(i); });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(sum.load(), 20 * 4950);
}

TEST(Workers, TheThreadNumberIsInRange) {
  Workers team(4);
  std::atomic<bool> in_range{true};
  for (int round = 0; round < 1000; ++round) {
    team.for_each(16, [&](std::int64_t, int thread) {
      if (thread < 0 || thread >= 4) in_range = false;
    });
  }
  EXPECT_TRUE(in_range);
}

TEST(HostDevice, BuffersAreAlignedAndCopied) {
  HostDevice host(1);
  const auto queue = host.queue(QueueKind::main).value();
  const Buffer a = host.allocate(1000).value(), b = host.allocate(1000).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.as<char>()) % 256, 0u);
  std::iota(a.as<unsigned char>(), a.as<unsigned char>() + 256, static_cast<unsigned char>(0));
  queue->copy(host, b.as<void>(), host, a.as<void>(), 256);
  EXPECT_TRUE(queue->finish().ok());
  EXPECT_EQ(b.as<unsigned char>()[200], 200);
}

TEST(HostDevice, AnImpossibleAllocationIsAnError) {
  HostDevice host(1);
  const auto buffer = host.allocate(std::size_t{1} << 62);
  ASSERT_FALSE(buffer.ok());
  EXPECT_EQ(buffer.error().fault(), Fault::exhausted);
}

}  // namespace
}  // namespace manyspan
