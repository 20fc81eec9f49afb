#include "session/snapshot_format.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/utf8.h"
#include "session/packed_rows.h"

namespace manyspan {
namespace {

using Tag = SnapshotSection::Tag;

constexpr std::string_view kMagic = "MANYSPAN";
// Where the header's fields stand.
constexpr std::size_t kVersionAt = 8, kModelAt = 12, kWeightsAt = 16, kTokensAt = 24, kBytesAt = 32,
                      kNumericsAt = 40, kNumericsBytes = kMostNumericsBytes + 1, kHeaderSumAt = 76;
constexpr std::size_t kSectionSumAt = 28;

void put_head(const SnapshotSection& s, std::byte* to) {
  store_little_endian(static_cast<std::uint32_t>(s.tag), to);
  store_little_endian(s.layer.value, to + 4);
  store_little_endian(s.first, to + 8);
  store_little_endian(s.rows, to + 16);
  store_little_endian(static_cast<std::uint32_t>(s.row_bytes), to + 24);
}

std::uint32_t sum_of(Bytes whole) {
  return crc32c(whole.subspan(kSectionHeadBytes), crc32c(whole.first(kSectionSumAt)));
}

}  // namespace

std::int64_t SnapshotSection::bytes() const { return kSectionHeadBytes + rows * row_bytes; }

std::string SnapshotSection::name() const {
  switch (tag) {
    case Tag::tokens:
      return "tokens";
    case Tag::classes:
      return "token classes";
    case Tag::window:
      return "window of layer " + std::to_string(layer.value);
    case Tag::rows:
      return "rows of source " + std::to_string(layer.value);
    case Tag::tail:
      return "tail of source " + std::to_string(layer.value);
  }
  return "section";
}

std::int64_t first_open_group(const Blueprint& b, std::int64_t tokens) {
  std::int64_t first = tokens;
  for (const std::int32_t source : b.kv_sources) {
    first = std::min(first, tokens - tokens % b.compress_ratios[source]);
  }
  return first;
}

std::vector<SnapshotSection> snapshot_sections(const Blueprint& b, std::int64_t tokens) {
  std::vector<SnapshotSection> sections{{Tag::tokens, {-1}, 0, tokens, 4}};
  if (!b.engram.layers.empty()) sections.push_back({Tag::classes, {-1}, 0, tokens, 4});
  const std::int64_t window = std::max<std::int64_t>(0, tokens - b.window + 1);
  for (std::int32_t layer = 0; layer < b.layers; ++layer) {
    sections.push_back({Tag::window, {layer}, window, tokens - window, window_rows(b).row_bytes()});
  }
  const std::int64_t open = first_open_group(b, tokens);
  for (const std::int32_t source : b.kv_sources) {
    const std::int32_t ratio = b.compress_ratios[source];
    sections.push_back({Tag::rows, {source}, 0, tokens / ratio, source_rows(b).row_bytes()});
    if (ratio > 1) sections.push_back({Tag::tail, {source}, open, tokens - open, tail_rows(b).row_bytes()});
  }
  return sections;
}

std::int64_t snapshot_bytes(std::span<const SnapshotSection> sections) {
  std::int64_t sum = kSnapshotHeaderBytes;
  for (const SnapshotSection& s : sections) sum += s.bytes();
  return sum;
}

std::array<std::byte, kSnapshotHeaderBytes> write_header(const SnapshotHeader& header) {
  CHECK(header.origin.numerics.size() <= kMostNumericsBytes, "a short name for numerics");
  std::array<std::byte, kSnapshotHeaderBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  store_little_endian(kSnapshotVersion, &bytes[kVersionAt]);
  store_little_endian(header.origin.model, &bytes[kModelAt]);
  store_little_endian(header.origin.weights, &bytes[kWeightsAt]);
  store_little_endian(header.tokens, &bytes[kTokensAt]);
  store_little_endian(header.bytes, &bytes[kBytesAt]);
  std::memcpy(&bytes[kNumericsAt], header.origin.numerics.data(), header.origin.numerics.size());
  store_little_endian(crc32c(Bytes(bytes).first(kHeaderSumAt)), &bytes[kHeaderSumAt]);
  return bytes;
}

Result<SnapshotHeader> read_header(std::span<const std::byte, kSnapshotHeaderBytes> bytes) {
  if (text_of(bytes.first(kMagic.size())) != kMagic) return Error(Fault::corrupt, "not a session's snapshot");
  // Another version may have its sums elsewhere.
  const auto version = load_little_endian<std::uint32_t>(&bytes[kVersionAt]);
  if (version != kSnapshotVersion) {
    return Error(Fault::unsupported, "a snapshot of version " + std::to_string(version) +
                                         "; this program reads version " + std::to_string(kSnapshotVersion));
  }
  if (load_little_endian<std::uint32_t>(&bytes[kHeaderSumAt]) != crc32c(bytes.first(kHeaderSumAt))) {
    return Error(Fault::corrupt, "header: its checksum does not fit");
  }
  SnapshotHeader header{
      .tokens = load_little_endian<std::int64_t>(&bytes[kTokensAt]),
      .bytes = load_little_endian<std::int64_t>(&bytes[kBytesAt]),
      .origin = {.model = load_little_endian<std::uint32_t>(&bytes[kModelAt]),
                 .weights = load_little_endian<std::uint32_t>(&bytes[kWeightsAt])},
  };
  const std::string_view name = text_of(bytes.subspan(kNumericsAt, kNumericsBytes));
  const std::size_t end = name.find('\0');
  if (end == std::string_view::npos || !is_valid_utf8(name.substr(0, end))) {
    return Error(Fault::corrupt, "header: the name of its numerics is not text of at most " +
                                     std::to_string(kMostNumericsBytes) + " bytes");
  }
  header.origin.numerics = name.substr(0, end);
  return header;
}

void seal(const SnapshotSection& section, std::span<std::byte> whole) {
  CHECK(std::ssize(whole) == section.bytes(), "the whole section");
  put_head(section, whole.data());
  store_little_endian(sum_of(whole), whole.data() + kSectionSumAt);
}

Result<void> check_section(const SnapshotSection& section, Bytes whole) {
  CHECK(std::ssize(whole) == section.bytes(), "the whole section");
  std::array<std::byte, kSectionHeadBytes> expected{};
  put_head(section, expected.data());
  if (!std::equal(expected.begin(), expected.begin() + kSectionSumAt, whole.begin())) {
    return Error(Fault::corrupt, section.name() + ": its head says something else");
  }
  if (load_little_endian<std::uint32_t>(whole.data() + kSectionSumAt) != sum_of(whole)) {
    return Error(Fault::corrupt, section.name() + ": its checksum does not fit");
  }
  return {};
}

}  // namespace manyspan
