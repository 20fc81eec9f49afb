// snapshot_format — a session as a file: header, then one section after another, each with its own checksum.
//
// What follows the header is laid down by the model's numbers and the count of tokens: the same sections in
// the same order with the same lengths, whatever devices held the state and however the session came to it.
//
// Errors     header: corrupt; unsupported: another version · section: corrupt
// Threads    pure functions
// Spec       docs/snapshot-format.md
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "spec/blueprint.h"

namespace manyspan {

inline constexpr std::size_t kMostNumericsBytes = 31;

// Whose state it is: of another model, or computed with other numerics, it must not be gone on from.
struct SnapshotOrigin {
  std::uint32_t model = 0;    // a sum over the blueprint's numbers
  std::uint32_t weights = 0;  // a sum over slots, shapes, encodings and samples of the weights' bytes
  std::string numerics{};     // the table's name, at most kMostNumericsBytes

  friend bool operator==(const SnapshotOrigin&, const SnapshotOrigin&) = default;
};

struct SnapshotHeader {
  std::int64_t tokens;
  std::int64_t bytes;  // of the whole file
  SnapshotOrigin origin;
};

struct SnapshotSection {
  enum class Tag : std::uint32_t { tokens = 1, classes = 2, window = 3, rows = 4, tail = 5 };
  Tag tag;
  LayerId layer;       // whose window; the KV source; -1 for the whole session
  std::int64_t first;  // position, or row, of the first
  std::int64_t rows;
  std::int64_t row_bytes;

  std::int64_t bytes() const;  // head and rows
  std::string name() const;    // "window of layer 3"
};

inline constexpr std::uint32_t kSnapshotVersion = 1;
inline constexpr std::int64_t kSnapshotHeaderBytes = 80, kSectionHeadBytes = 32;

// First position whose compressor inputs are still needed at `tokens`: where the oldest group begins that is
// not whole.
std::int64_t first_open_group(const Blueprint& blueprint, std::int64_t tokens);

std::vector<SnapshotSection> snapshot_sections(const Blueprint& blueprint, std::int64_t tokens);
std::int64_t snapshot_bytes(std::span<const SnapshotSection> sections);  // of the whole file

std::array<std::byte, kSnapshotHeaderBytes> write_header(const SnapshotHeader& header);
Result<SnapshotHeader> read_header(std::span<const std::byte, kSnapshotHeaderBytes> bytes);

// `whole` has room for the head, and the rows behind it already: fills in head and checksum.
void seal(const SnapshotSection& section, std::span<std::byte> whole);
// Whether `whole` is this section, undamaged.
Result<void> check_section(const SnapshotSection& section, Bytes whole);

}  // namespace manyspan
