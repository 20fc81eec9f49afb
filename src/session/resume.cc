#include "session/resume.h"

#include <algorithm>
#include <numeric>

#include "kernels/pages.h"

namespace manyspan {
namespace {

// Whether the groups that are not whole at `length` have all their inputs.
bool tails_suffice(const Held& held, std::int64_t length, const Blueprint& b) {
  return std::all_of(b.kv_sources.begin(), b.kv_sources.end(), [&](std::int32_t source) {
    const std::int64_t begun = length % b.compress_ratios[source];
    return begun == 0 || length - begun >= held.tail_from;
  });
}

// A replay begins where pages and groups begin, so that nothing before it is read but empty window pages.
std::int64_t replay_start(std::int64_t length, const Blueprint& b) {
  std::int64_t unit = kernels::kWindowPageRows;
  for (const std::int32_t source : b.kv_sources) {
    const std::int64_t ratio = b.compress_ratios[source];
    if (ratio > b.window) return 0;  // a group would be longer than what one layer needs to become exact
    unit = std::lcm(unit, ratio);
  }
  const std::int64_t latest = length - std::int64_t{b.layers} * (b.window - 1);
  return latest <= 0 ? 0 : latest / unit * unit;
}

}  // namespace

Resume resume_at(const Held& held, std::int64_t length, const Blueprint& b) {
  const std::int64_t replay = replay_start(length, b);
  // A few tokens before `length` every group may be whole, where tails no longer reach back far enough.
  for (std::int64_t from = length; from > replay; --from) {
    if (held.window_from > 0 && from - b.window + 1 < held.window_from) break;
    if (tails_suffice(held, from, b)) return {.from = from, .over_rows = false};
  }
  return {.from = replay, .over_rows = replay > 0 && replay < length};
}

std::vector<std::int64_t> replay_cuts(std::int64_t from, const Blueprint& b) {
  std::vector<std::int64_t> cuts;
  for (const std::int32_t source : b.kv_sources) cuts.push_back(from + (source + 1) * (b.window - 1));
  return cuts;
}

std::int64_t exact_after_replay(std::int64_t from, const Blueprint& b) {
  return from + (b.layers - 1) * (b.window - 1);
}

}  // namespace manyspan
