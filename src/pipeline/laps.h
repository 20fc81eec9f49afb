// laps — a step's visits, cut where a stage is come back to.
//
// Within a lap no stage is met twice, so steps that are enqueued one after another go through it beside each other. Two
// laps of one step enqueued at once would not let them: a stage would wait for the second lap of a step before it could
// begin the first of the next. So the pipeline enqueues a lap when the one before it has ended.
//
// Spec       house.md 6.2
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "prepared/placement.h"

namespace manyspan {

// Visits begin .. end - 1.
struct Lap {
  std::size_t begin, end;
  friend bool operator==(const Lap&, const Lap&) = default;
};

// In order, every visit in one of them; each as long as it can be.
std::vector<Lap> laps_of(std::span<const Visit> visits);

// The lap with a visit.
std::size_t lap_with(std::span<const Lap> laps, std::size_t visit);

// How many steps under way keep every stage at work: one for each visit, as where a stage is come back to a step waits for
// the one that the stage is at; and where there are several, two more for what is on its way between them.
std::int32_t flights_for(std::span<const Visit> visits);

// How many steps a device keeps rows and page tables of. Where laps follow each other, a later step's may come before an
// earlier one's are done with; else every step finds them where the last one did.
std::int32_t steps_kept(std::span<const Lap> laps, std::int32_t flights);

// How many carries may have landed before a visit. In front of a lap there is room for every step under way: a sender that
// waited there could hold up what the receiver must run first.
std::int32_t landing_places(std::span<const Lap> laps, std::size_t visit, std::int32_t flights);

}  // namespace manyspan
