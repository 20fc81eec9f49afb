#include "session/snapshot_file.h"

#include <array>

#include "session/packed_rows.h"
#include "session/state_pages.h"

namespace manyspan {
namespace {

using Tag = SnapshotSection::Tag;

// The sections that a file with this header must have, once it is known to be of this model and to fit.
Result<std::vector<SnapshotSection>> sections_of(const SnapshotHeader& header, const SnapshotOrigin& origin,
                                                 const Blueprint& blueprint, std::int64_t context,
                                                 std::uint64_t file_bytes) {
  if (header.origin.model != origin.model || header.origin.weights != origin.weights) {
    return Error(Fault::unsupported, "a session of another model");
  }
  if (header.origin.numerics != origin.numerics) {
    return Error(Fault::unsupported, "a session computed by \"" + header.origin.numerics +
                                         "\"; this engine computes by \"" + origin.numerics + "\"");
  }
  if (header.tokens < 0 || header.tokens > context) {
    return Error(Fault::exhausted, std::to_string(header.tokens) + " tokens do not fit the context of " +
                                       std::to_string(context));
  }
  std::vector<SnapshotSection> sections = snapshot_sections(blueprint, header.tokens);
  const std::int64_t expected = snapshot_bytes(sections);
  if (header.bytes != expected) {
    return Error(Fault::corrupt, "its header says " + std::to_string(header.bytes) + " bytes; " +
                                     std::to_string(header.tokens) + " tokens take " +
                                     std::to_string(expected));
  }
  if (file_bytes != static_cast<std::uint64_t>(expected)) {
    return Error(Fault::corrupt, "the file has " + std::to_string(file_bytes) + " bytes; its header says " +
                                     std::to_string(expected));
  }
  return sections;
}

// A section whose checksum fits may still hold what no model wrote.
Result<void> check_contents(const SnapshotSection& s, Bytes rows, const Blueprint& b) {
  const auto refuse = [&](const std::string& what) { return Error(Fault::corrupt, s.name() + ": " + what); };
  if (s.tag == Tag::tokens) {
    for (const std::int32_t id : numbers_of<std::int32_t>(rows)) {
      if (id >= 0 && id < b.vocabulary) continue;
      return refuse("id " + std::to_string(id) + " is outside the vocabulary of " +
                    std::to_string(b.vocabulary));
    }
  }
  if (!on_devices(s)) return {};
  const RowLayout layout = s.tag == Tag::window ? window_rows(b)
                           : s.tag == Tag::rows ? source_rows(b)
                                                : tail_rows(b);
  if (!rows_are_finite(layout, rows)) return refuse("holds what is not a number");
  return {};
}

}  // namespace

Result<SnapshotFile> SnapshotFile::open(const std::string& path, const SnapshotOrigin& origin,
                                        const Blueprint& blueprint, std::int64_t context) {
  const auto within = [&](const Error& error) { return Error(error).within(path); };
  File file = TRY(File::open(path));
  if (file.size() < kSnapshotHeaderBytes) {
    return within(Error(Fault::corrupt,
                        "too short for a session's snapshot: " + std::to_string(file.size()) + " bytes"));
  }
  std::array<std::byte, kSnapshotHeaderBytes> head;
  TRY(file.read_at(0, head));
  const auto header = read_header(head);
  if (!header.ok()) return within(header.error());
  auto sections = sections_of(header.value(), origin, blueprint, context, file.size());
  if (!sections.ok()) return within(sections.error());
  return SnapshotFile(std::move(file), blueprint, std::move(sections).value());
}

Result<Bytes> SnapshotFile::rows(std::size_t section) {
  const SnapshotSection& s = sections_[section];
  whole_.resize(s.bytes());
  TRY(file_.read_at(snapshot_bytes(std::span(sections_).first(section)), whole_));
  const Bytes rows = Bytes(whole_).subspan(kSectionHeadBytes);
  const auto checked = [&]() -> Result<void> {
    TRY(check_section(s, whole_));
    return check_contents(s, rows, *blueprint_);
  }();
  if (!checked.ok()) return Error(checked.error()).within(file_.path());
  return rows;
}

}  // namespace manyspan
