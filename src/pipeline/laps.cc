#include "pipeline/laps.h"

#include <algorithm>
#include <set>

namespace manyspan {

std::vector<Lap> laps_of(std::span<const Visit> visits) {
  std::vector<Lap> laps;
  std::set<std::int32_t> met;
  for (std::size_t v = 0; v < visits.size(); ++v) {
    if (laps.empty() || met.contains(visits[v].stage)) {
      laps.push_back({v, v});
      met.clear();
    }
    met.insert(visits[v].stage);
    laps.back().end = v + 1;
  }
  return laps;
}

std::size_t lap_with(std::span<const Lap> laps, std::size_t visit) {
  return std::find_if(laps.begin(), laps.end(), [&](const Lap& lap) { return visit < lap.end; }) -
         laps.begin();
}

std::int32_t flights_for(std::span<const Visit> visits) {
  return static_cast<std::int32_t>(visits.size()) + (visits.size() > 1 ? 2 : 0);
}

std::int32_t steps_kept(std::span<const Lap> laps, std::int32_t flights) {
  return laps.size() > 1 ? flights : 1;
}

std::int32_t landing_places(std::span<const Lap> laps, std::size_t visit, std::int32_t flights) {
  return laps[lap_with(laps, visit)].begin == visit ? std::max(2, flights) : 2;
}

}  // namespace manyspan
