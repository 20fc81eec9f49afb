// state_pages — a section's rows in the pages of a session: read from devices, or written to them.
//
// Requires   the session holds the pages of all the section's rows
// Errors     what the pipeline says
#pragma once

#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "pipeline/pipeline.h"
#include "session/snapshot_format.h"
#include "session/timeline.h"
#include "spec/blueprint.h"

namespace manyspan {

// Whether a section's rows lie in pages or tails of devices.
inline bool on_devices(const SnapshotSection& section) {
  return section.tag != SnapshotSection::Tag::tokens && section.tag != SnapshotSection::Tag::classes;
}

// `packed` has the section's rows, without its head.
Result<void> read_rows(Pipeline& pipeline, const Blueprint& blueprint, const Timeline& timeline,
                       const SnapshotSection& section, std::span<std::byte> packed);

// What else is in the pages that it writes becomes zeros.
Result<void> write_rows(Pipeline& pipeline, const Blueprint& blueprint, const Timeline& timeline,
                        const SnapshotSection& section, Bytes packed);

}  // namespace manyspan
