#include <algorithm>
#include <span>
#include <vector>

#include "base/file.h"
#include "session/sessions.h"
#include "session/snapshot_file.h"
#include "session/state_pages.h"

namespace manyspan {

using Tag = SnapshotSection::Tag;

Result<void> Sessions::snapshot(SessionId id, const SnapshotOrigin& origin, const std::string& path) {
  const Timeline& t = timeline(id);
  if (!is_whole(id)) TRY(truncate(id, t.length()));
  const std::vector<SnapshotSection> sections = snapshot_sections(blueprint_, t.length());
  const auto header = write_header({t.length(), snapshot_bytes(sections), origin});
  std::vector<std::byte>
      whole;  // of the section at hand: a long session's file is larger than one wants in memory
  const auto section = [&](const SnapshotSection& s) -> Result<Bytes> {
    whole.assign(s.bytes(), std::byte{});
    const auto rows = std::span(whole).subspan(kSectionHeadBytes);
    const auto put = [&](const auto& numbers) {
      const auto bytes = std::as_bytes(std::span(numbers));
      std::copy(bytes.begin(), bytes.end(), rows.begin());
    };
    if (s.tag == Tag::tokens) put(t.tokens());
    if (s.tag == Tag::classes) put(t.classes());
    if (on_devices(s)) TRY(read_rows(pipeline_, blueprint_, t, s, rows));
    seal(s, whole);
    return Bytes(whole);
  };
  std::size_t part = 0;
  return write_file_atomically(path, [&]() -> Result<Bytes> {
    const std::size_t i = part++;
    if (i == 0) return Bytes(header);
    return i <= sections.size() ? section(sections[i - 1]) : Bytes();
  });
}

Result<SessionId> Sessions::restore(const SnapshotOrigin& origin, const std::string& path) {
  SnapshotFile file = TRY(SnapshotFile::open(path, origin, blueprint_, pipeline_.limits().context));
  // All of it is checked before a session is touched, and each section once more when it is taken in.
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < file.sections().size(); ++i) {
    const SnapshotSection& s = file.sections()[i];
    const Bytes rows = TRY(file.rows(i));
    if (s.tag == Tag::tokens) tokens = numbers_of<TokenId>(rows);
    if (s.tag == Tag::classes && numbers_of<std::int32_t>(rows) != classes_of(tokens)) {
      return Error(Fault::corrupt, path + ": " + s.name() + ": they are not those of its tokens");
    }
  }
  return take_in(file, tokens);
}

std::vector<std::int32_t> Sessions::classes_of(std::span<const TokenId> tokens) const {
  std::vector<std::int32_t> classes;
  for (const TokenId id : tokens) classes.push_back(engram_ == nullptr ? 0 : engram_->class_of(id));
  return classes;
}

Result<SessionId> Sessions::take_in(SnapshotFile& file, std::span<const TokenId> tokens) {
  const std::int64_t length = std::ssize(tokens);
  const Held held{.window_from = std::max<std::int64_t>(0, length - blueprint_.window + 1),
                  .tail_from = first_open_group(blueprint_, length)};
  Opened session(*this, TRY(open()));
  TRY(mutable_timeline(session.id()).adopt(tokens, classes_of(tokens), held));
  for (std::size_t i = 0; i < file.sections().size(); ++i) {
    const SnapshotSection& s = file.sections()[i];
    if (!on_devices(s)) continue;
    TRY(write_rows(pipeline_, blueprint_, timeline(session.id()), s, TRY(file.rows(i))));
  }
  return session.keep();
}

}  // namespace manyspan
