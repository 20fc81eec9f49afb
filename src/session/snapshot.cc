#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/file.h"
#include "session/packed_rows.h"
#include "session/sessions.h"
#include "session/snapshot_format.h"
#include "session/state_pages.h"

namespace manyspan {
namespace {

using Tag = SnapshotSection::Tag;

template <class Number>
std::vector<Number> numbers_of(Bytes rows) {
  std::vector<Number> numbers(rows.size() / sizeof(Number));
  std::copy(rows.begin(), rows.end(), std::as_writable_bytes(std::span(numbers)).begin());
  return numbers;
}

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

Result<void> Sessions::snapshot(SessionId id, const SnapshotOrigin& origin, const std::string& path) {
  const Timeline& t = timeline(id);
  if (!is_whole(id)) TRY(truncate(id, t.length()));
  const std::vector<SnapshotSection> sections = snapshot_sections(blueprint_, t.length());
  const auto header = write_header({t.length(), snapshot_bytes(sections), origin});
  std::vector<std::vector<std::byte>> written;
  std::vector<Bytes> parts{header};
  for (const SnapshotSection& s : sections) {
    std::vector<std::byte>& whole = written.emplace_back(s.bytes());
    const auto rows = std::span(whole).subspan(kSectionHeadBytes);
    const auto put = [&](const auto& numbers) {
      const auto bytes = std::as_bytes(std::span(numbers));
      std::copy(bytes.begin(), bytes.end(), rows.begin());
    };
    if (s.tag == Tag::tokens) put(t.tokens());
    if (s.tag == Tag::classes) put(t.classes());
    if (on_devices(s)) TRY(read_rows(pipeline_, blueprint_, t, s, rows));
    seal(s, whole);
    parts.emplace_back(whole);
  }
  return write_file_atomically(path, parts);
}

Result<SessionId> Sessions::restore(const SnapshotOrigin& origin, const std::string& path) {
  const auto within = [&](const Error& error) { return Error(error).within(path); };
  const File file = TRY(File::open(path));
  if (file.size() < kSnapshotHeaderBytes) {
    return within(Error(Fault::corrupt,
                        "too short for a session's snapshot: " + std::to_string(file.size()) + " bytes"));
  }
  std::array<std::byte, kSnapshotHeaderBytes> head;
  TRY(file.read_at(0, head));
  const auto header = read_header(head);
  if (!header.ok()) return within(header.error());
  const auto sections =
      sections_of(header.value(), origin, blueprint_, pipeline_.limits().context, file.size());
  if (!sections.ok()) return within(sections.error());

  // All of it is read and checked before a session is touched.
  std::vector<std::byte> all(file.size() - kSnapshotHeaderBytes);
  TRY(file.read_at(kSnapshotHeaderBytes, all));
  std::span<const std::byte> left(all);
  std::vector<Bytes> rows;
  for (const SnapshotSection& s : sections.value()) {
    const Bytes whole = left.first(s.bytes());
    if (const auto sound = check_section(s, whole); !sound.ok()) return within(sound.error());
    rows.push_back(whole.subspan(kSectionHeadBytes));
    if (const auto sound = check_contents(s, rows.back(), blueprint_); !sound.ok())
      return within(sound.error());
    if (s.tag == Tag::classes &&
        numbers_of<std::int32_t>(rows[1]) != classes_of(numbers_of<TokenId>(rows[0]))) {
      return within(Error(Fault::corrupt, s.name() + ": they are not those of its tokens"));
    }
    left = left.subspan(s.bytes());
  }
  return take_in(sections.value(), rows);
}

std::vector<std::int32_t> Sessions::classes_of(std::span<const TokenId> tokens) const {
  std::vector<std::int32_t> classes;
  for (const TokenId id : tokens) classes.push_back(engram_ == nullptr ? 0 : engram_->class_of(id));
  return classes;
}

Result<SessionId> Sessions::take_in(std::span<const SnapshotSection> sections, std::span<const Bytes> rows) {
  const std::vector<TokenId> tokens = numbers_of<TokenId>(rows[0]);
  const auto length = static_cast<std::int64_t>(tokens.size());
  const Held held{.window_from = std::max<std::int64_t>(0, length - blueprint_.window + 1),
                  .tail_from = first_open_group(blueprint_, length)};
  Opened session(*this, TRY(open()));
  TRY(mutable_timeline(session.id()).adopt(tokens, classes_of(tokens), held));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!on_devices(sections[i])) continue;
    TRY(write_rows(pipeline_, blueprint_, timeline(session.id()), sections[i], rows[i]));
  }
  return session.keep();
}

}  // namespace manyspan
