// Snapshots that are damaged, foreign or made up: each is refused with one clear error, and no session comes
// of it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "session/snapshot_format.h"
#include "tests/support/law.h"
#include "tests/support/model_rig.h"

namespace manyspan::test {
namespace {

constexpr std::int64_t kTokens = 45;
const SnapshotOrigin kOrigin{.model = 1, .weights = 2, .numerics = "these"};

class DamagedSnapshot : public testing::Test {
 protected:
  DamagedSnapshot()
      : rig_(data_path("t2_multi"),
             {.limits = {.step_rows = 64, .sampled_rows = 64, .sessions = 2, .context = 64}}),
        sections_(snapshot_sections(rig_.checkpoint().blueprint, kTokens)) {
    const SessionId id = rig_.sessions().open().value();
    rig_.extend(id, law_prompt(data_path("t2_multi"), 0, kTokens));
    EXPECT_TRUE(rig_.sessions().snapshot(id, kOrigin, path()).ok());
    rig_.sessions().close(id);
    file_ = read_file(path(), 1 << 24).value();
  }

  std::string path() const { return folder_ / "session"; }

  // What is said of `file`. A file that is taken, or leaves pages or slots behind, fails the test.
  Error refusal(const std::string& file, const SnapshotOrigin& origin = kOrigin) {
    folder_.put("session", file);
    const auto restored = rig_.sessions().restore(origin, path());
    EXPECT_FALSE(restored.ok());
    if (restored.ok()) return Error(Fault::invalid, "");
    EXPECT_EQ(rig_.sessions().pages_used(), 0);
    EXPECT_EQ(restored.error().message().rfind(path() + ": ", 0), 0u) << restored.error().message();
    return Error(restored.error().fault(), restored.error().message().substr(path().size() + 2));
  }
  // The file with a header that says something else, and fits.
  std::string with_header(const SnapshotHeader& header) const {
    const auto bytes = write_header(header);
    return std::string(text_of(bytes)) + file_.substr(kSnapshotHeaderBytes);
  }
  SnapshotHeader header() const { return {kTokens, static_cast<std::int64_t>(file_.size()), kOrigin}; }

  // The file with a section's rows changed from their first byte on, and its checksum made to fit.
  std::string with_rows(std::size_t section, const std::string& rows) const {
    std::string file = file_;
    std::size_t at = kSnapshotHeaderBytes;
    for (std::size_t i = 0; i < section; ++i) at += sections_[i].bytes();
    file.replace(at + kSectionHeadBytes, rows.size(), rows);
    const auto whole = std::as_writable_bytes(std::span(file)).subspan(at, sections_[section].bytes());
    seal(sections_[section], whole);
    return file;
  }

  TemporaryFolder folder_;
  ModelRig rig_;
  std::vector<SnapshotSection> sections_;
  std::string file_;
};

TEST_F(DamagedSnapshot, IsTakenWhenItIsNotDamaged) {
  folder_.put("session", with_header(header()));
  EXPECT_TRUE(rig_.sessions().restore(kOrigin, path()).ok());
  folder_.put("session", with_rows(3, ""));
  EXPECT_TRUE(rig_.sessions().restore(kOrigin, path()).ok());
}

TEST_F(DamagedSnapshot, CutShortAnywhereOrTooLongIsRefused) {
  for (std::size_t length = 0; length < file_.size(); length += length < 200 ? 1 : 997) {
    EXPECT_EQ(refusal(file_.substr(0, length)).fault(), Fault::corrupt) << length;
  }
  EXPECT_EQ(refusal(file_.substr(0, file_.size() - 1)).fault(), Fault::corrupt);
  EXPECT_EQ(refusal(file_ + '\0').message(), "the file has " + std::to_string(file_.size() + 1) +
                                                 " bytes; its header says " + std::to_string(file_.size()));
  EXPECT_EQ(refusal("").message(), "too short for a session's snapshot: 0 bytes");
  EXPECT_EQ(refusal(std::string(200, 'x')).message(), "not a session's snapshot");
}

TEST_F(DamagedSnapshot, AFlippedBitInAnySectionIsRefusedByThatSectionsName) {
  std::size_t at = kSnapshotHeaderBytes;
  for (const SnapshotSection& s : sections_) {
    for (const std::size_t offset :
         {std::size_t{0}, std::size_t{9}, std::size_t{29}, static_cast<std::size_t>(s.bytes() - 1)}) {
      std::string file = file_;
      file[at + offset] = static_cast<char>(file[at + offset] ^ 4);
      const Error error = refusal(file);
      EXPECT_EQ(error.fault(), Fault::corrupt);
      EXPECT_EQ(error.message().rfind(s.name() + ": ", 0), 0u) << error.message();
    }
    at += s.bytes();
  }
  EXPECT_EQ(at, file_.size());
}

TEST_F(DamagedSnapshot, AnotherVersionIsUnsupportedWhateverFollows) {
  std::string file = file_;
  file[8] = 2;
  EXPECT_EQ(refusal(file).fault(), Fault::unsupported);
  EXPECT_EQ(refusal(file).message(), "a snapshot of version 2; this program reads version 1");
}

TEST_F(DamagedSnapshot, AnotherModelOrOtherNumericsAreUnsupported) {
  EXPECT_EQ(refusal(file_, {9, 2, "these"}).message(), "a session of another model");
  EXPECT_EQ(refusal(file_, {1, 9, "these"}).message(), "a session of another model");
  const Error error = refusal(file_, {1, 2, "others"});
  EXPECT_EQ(error.fault(), Fault::unsupported);
  EXPECT_EQ(error.message(), "a session computed by \"these\"; this engine computes by \"others\"");
}

TEST_F(DamagedSnapshot, LengthsThatDoNotFitAreRefusedBeforeAnythingIsTaken) {
  SnapshotHeader h = header();
  for (const std::int64_t tokens : {std::int64_t{-1}, std::int64_t{65}, std::int64_t{1} << 62, INT64_MIN}) {
    h.tokens = tokens;
    EXPECT_EQ(refusal(with_header(h)).fault(), Fault::exhausted) << tokens;
  }
  for (const std::int64_t tokens : {0, 44, 46, 64}) {
    h.tokens = tokens;
    EXPECT_EQ(refusal(with_header(h)).fault(), Fault::corrupt) << tokens;
  }
  h = header();
  h.bytes = std::int64_t{1} << 60;
  EXPECT_EQ(refusal(with_header(h)).fault(), Fault::corrupt);
  h.tokens = 46;  // and bytes to match, but not the file
  h.bytes = snapshot_bytes(snapshot_sections(rig_.checkpoint().blueprint, 46));
  EXPECT_EQ(refusal(with_header(h)).fault(), Fault::corrupt);
}

TEST_F(DamagedSnapshot, ContentsThatNoModelWroteAreRefused) {
  EXPECT_EQ(refusal(with_rows(0, std::string("\xff\xff\xff\x7f", 4))).message(),
            "tokens: id 2147483647 is outside the vocabulary of " +
                std::to_string(rig_.checkpoint().blueprint.vocabulary));
  EXPECT_EQ(refusal(with_rows(0, "\xff\xff\xff\xff")).fault(), Fault::corrupt);
  EXPECT_EQ(refusal(with_rows(1, "\x01\x01\x01\x01")).message(),
            "token classes: they are not those of its tokens");
  for (std::size_t i = 2; i < sections_.size(); ++i) {
    if (sections_[i].rows == 0) continue;
    const Error error = refusal(with_rows(i, std::string(sections_[i].row_bytes, '\xff')));
    EXPECT_EQ(error.message(), sections_[i].name() + ": holds what is not a number");
  }
}

TEST_F(DamagedSnapshot, NumbersOfAnySizeMayGiveNonsenseButNoCrash) {
  // The largest of every format; the next token's logits may be anything.
  for (std::size_t i = 2; i < sections_.size(); ++i) {
    const bool tail = sections_[i].tag == SnapshotSection::Tag::tail;
    const std::string huge = tail ? std::string("\xff\xff\x7f\x7f", 4) : std::string(1, '\xfe');
    std::string rows;
    while (std::ssize(rows) < sections_[i].rows * sections_[i].row_bytes) rows += huge;
    folder_.put("session", with_rows(i, rows));
    const auto restored = rig_.sessions().restore(kOrigin, path());
    ASSERT_TRUE(restored.ok()) << restored.error().message();
    EXPECT_EQ(rig_.extend(restored.value(), law_prompt(data_path("t2_multi"), 1, 3)).size(),
              3u * rig_.checkpoint().blueprint.vocabulary);
    rig_.sessions().close(restored.value());
  }
}

TEST_F(DamagedSnapshot, WithoutASlotOrPagesNothingChanges) {
  while (rig_.sessions().open().ok()) {
  }
  EXPECT_EQ(rig_.sessions().restore(kOrigin, path()).error().fault(), Fault::exhausted);
  EXPECT_EQ(rig_.sessions().pages_used(), 0);
  EXPECT_EQ(rig_.sessions().restore(kOrigin, folder_ / "none").error().fault(), Fault::not_found);
}

}  // namespace
}  // namespace manyspan::test
