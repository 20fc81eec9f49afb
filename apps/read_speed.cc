#include "apps/read_speed.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>

#include "device/workers.h"

namespace manyspan::app {
namespace {

constexpr std::int64_t kBlockWords = 32 * 1024;  // 256 KiB
constexpr double kSeconds = 0.4;
constexpr int kLeastPasses = 4;

std::uint64_t sum(const std::uint64_t* words) {
  std::uint64_t lanes[16] = {};
  for (std::int64_t i = 0; i < kBlockWords; i += 16) {
    for (int lane = 0; lane < 16; ++lane) lanes[lane] += words[i + lane];
  }
  std::uint64_t all = 0;
  for (const std::uint64_t lane : lanes) all += lane;
  return all;
}

}  // namespace

Result<double> read_speed(std::int64_t bytes, int threads) {
  const std::int64_t blocks = std::max<std::int64_t>(1, bytes / (kBlockWords * 8));
  const std::unique_ptr<std::uint64_t[]> words(new (std::nothrow) std::uint64_t[blocks * kBlockWords]);
  if (!words) return Error(Fault::exhausted, "no memory to measure how fast it is read");
  Workers workers(threads);
  const auto at = [&](std::int64_t block) { return words.get() + block * kBlockWords; };
  workers.for_each(blocks, [&](std::int64_t block, int) { std::fill_n(at(block), kBlockWords, block); });

  using Clock = std::chrono::steady_clock;
  std::atomic<std::uint64_t> total{0};  // so that no read can be left out
  double best = 0;
  const auto started = Clock::now();
  const auto since = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  for (int pass = 0; pass < kLeastPasses || since(started) < kSeconds; ++pass) {
    const auto from = Clock::now();
    workers.for_each(
        blocks, [&](std::int64_t block, int) { total.fetch_add(sum(at(block)), std::memory_order_relaxed); });
    best = std::max(best, static_cast<double>(blocks * kBlockWords * 8) / since(from));
  }
  return total.load() == 1 ? 0.0 : best;
}

}  // namespace manyspan::app
