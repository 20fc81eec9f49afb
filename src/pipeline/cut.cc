#include "pipeline/cut.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace manyspan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Seconds of every range on every device; what does not fit takes for ever.
class Times {
 public:
  Times(std::int32_t layers, std::int32_t devices,
        const std::function<StageCost(std::int32_t, LayerRange)>& cost)
      : layers_(layers), seconds_(static_cast<std::size_t>(devices) * layers * (layers + 1)) {
    for (std::int32_t d = 0; d < devices; ++d) {
      for (std::int32_t first = 0; first < layers; ++first) {
        for (std::int32_t end = first + 1; end <= layers; ++end) {
          const StageCost c = cost(d, {first, end});
          seconds_[place(d, {first, end})] = c.fits ? c.seconds : kNever;
        }
      }
    }
  }
  double of(std::int32_t device, LayerRange range) const { return seconds_[place(device, range)]; }

 private:
  std::size_t place(std::int32_t device, LayerRange range) const {
    return (static_cast<std::size_t>(device) * layers_ + range.first) * (layers_ + 1) + range.end;
  }
  std::int32_t layers_;
  std::vector<double> seconds_;
};

// The cut with the least joined cost, and that cost. join(of what comes before, seconds of a stage).
struct Found {
  double cost;
  std::vector<std::int32_t> begins;  // of each device; where it has no layers, as the next one's
};

template <class Join>
Found search(std::int32_t layers, std::int32_t devices, const Times& times, Join join) {
  const auto width = static_cast<std::size_t>(layers) + 1;
  // By how many devices are used up and where the next layer begins.
  std::vector<double> best(width * (devices + 1), kNever);
  std::vector<std::int32_t> from(width * (devices + 1), 0);
  best[0] = 0;
  for (std::int32_t d = 0; d < devices; ++d) {
    for (std::int32_t end = 0; end <= layers; ++end) {
      double& least = best[(d + 1) * width + end];
      // From the shortest range on: of equal cuts that one counts which leaves the last devices free.
      for (std::int32_t first = end; first >= 0; --first) {
        const double before = best[d * width + first];
        const double cost =
            first == end || before == kNever ? before : join(before, times.of(d, {first, end}));
        if (cost < least) least = cost, from[(d + 1) * width + end] = first;
      }
    }
  }
  Found found{best[devices * width + layers], std::vector<std::int32_t>(devices)};
  std::int32_t end = layers;
  for (std::int32_t d = devices - 1; d >= 0; --d) found.begins[d] = end = from[(d + 1) * width + end];
  return found;
}

}  // namespace

std::optional<Placement> best_cut(std::int32_t layers, std::int32_t devices,
                                  const std::function<StageCost(std::int32_t, LayerRange)>& cost) {
  const Times times(layers, devices, cost);
  const double slowest = search(layers, devices, times, [](double before, double stage) {
                           return std::max(before, stage);
                         }).cost;
  if (slowest == kNever) return std::nullopt;
  // Squares are least where stages are most alike.
  const Found found = search(layers, devices, times, [&](double before, double stage) {
    return stage <= slowest ? before + stage * stage : kNever;
  });
  Placement placement;
  for (std::int32_t d = 0; d < devices; ++d) {
    const std::int32_t first = found.begins[d], end = d + 1 < devices ? found.begins[d + 1] : layers;
    if (first < end) placement.stages.push_back({d, {{{first, end}}}});
  }
  return placement;
}

}  // namespace manyspan
