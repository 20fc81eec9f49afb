// snapshot_file — a session's file opened for reading: one section at a time is in memory, and checked.
//
// Owns       the open file, and the bytes of the section that was read last
// Errors     open: not_found; corrupt; unsupported: another version, model or numerics; exhausted: longer than
//            the context · rows: corrupt: damaged, cut short, or what no model wrote. Messages begin with the path
// Threads    one thread at a time
// Spec       docs/snapshot-format.md
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"
#include "session/snapshot_format.h"
#include "spec/blueprint.h"

namespace manyspan {

class SnapshotFile {
 public:
  // `origin` is what this engine runs, `context` the most tokens that a session of its holds. `blueprint` must
  // outlive this.
  static Result<SnapshotFile> open(const std::string& path, const SnapshotOrigin& origin,
                                   const Blueprint& blueprint, std::int64_t context);

  const std::vector<SnapshotSection>& sections() const { return sections_; }

  // A section's rows, valid until the next call.
  Result<Bytes> rows(std::size_t section);

 private:
  SnapshotFile(File file, const Blueprint& blueprint, std::vector<SnapshotSection> sections)
      : file_(std::move(file)), blueprint_(&blueprint), sections_(std::move(sections)) {}

  File file_;
  const Blueprint* blueprint_;
  std::vector<SnapshotSection> sections_;
  std::vector<std::byte> whole_;
};

// The ids of the tokens, or their classes.
template <class Number>
std::vector<Number> numbers_of(Bytes rows) {
  std::vector<Number> numbers(rows.size() / sizeof(Number));
  std::copy(rows.begin(), rows.end(), std::as_writable_bytes(std::span(numbers)).begin());
  return numbers;
}

}  // namespace manyspan
