#include "base/file.h"

#include <csignal>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/temporary_folder.h"

namespace manyspan {
namespace {

std::string read(const File& file, std::uint64_t offset, std::size_t count) {
  std::string text(count, '?');
  const auto done = file.read_at(offset, std::as_writable_bytes(std::span(text.data(), text.size())));
  return done.ok() ? text : done.error().message();
}

TEST(File, ReadsExactlyWhatIsAskedFor) {
  const TemporaryFolder folder;
  const auto file = File::open(folder.put("a", "0123456789"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value().size(), 10u);
  EXPECT_EQ(read(file.value(), 3, 4), "3456");
  EXPECT_EQ(read(file.value(), 10, 0), "");
  EXPECT_EQ(read(file.value(), 8, 3), folder / "a" + ": 3 bytes wanted at byte 8, but the file ends at 10");
  EXPECT_NE(read(file.value(), ~std::uint64_t{0}, 3).find("the file ends at 10"), std::string::npos);
}

TEST(File, AFileCutShortAfterOpeningIsAnError) {
  const TemporaryFolder folder;
  const auto file = File::open(folder.put("a", std::string(100'000, 'x')));
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(::truncate((folder / "a").c_str(), 5000), 0);
  const std::string why = read(file.value(), 0, 100'000);
  EXPECT_EQ(why, folder / "a" +
                     ": 100000 bytes wanted at byte 0, but the file ends at 5000; it had 100000 bytes"
                     " when it was opened");
  EXPECT_EQ(read(file.value(), 4000, 3), "xxx");
}

TEST(File, AFileRemovedOrReplacedAfterOpeningIsReadAsItWas) {
  const TemporaryFolder folder;
  const auto file = File::open(folder.put("a", "0123456789"));
  ASSERT_TRUE(file.ok());
  std::filesystem::rename(folder.put("b", "another"), folder / "a");
  EXPECT_EQ(read(file.value(), 3, 4), "3456");
  std::filesystem::remove(folder / "a");
  EXPECT_EQ(read(file.value(), 6, 4), "6789");
}

TEST(File, AdviceIsAWish) {
  const TemporaryFolder folder;
  const auto file = File::open(folder.put("a", std::string(100'000, 'x')));
  ASSERT_TRUE(file.ok());
  for (const Access access : {Access::in_order, Access::at_random, Access::soon, Access::done}) {
    file.value().advise(0, 100'000, access);
    file.value().advise(50'000, 0, access);
    file.value().advise(99'000, 1'000'000, access);
    EXPECT_EQ(read(file.value(), 99'998, 2), "xx");
  }
}

TEST(File, OnlyRegularFilesOpenAndNoneIsWaitedFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(File::open(folder / "pipe").error().message(), folder / "pipe" + ": not a regular file");
  EXPECT_EQ(File::open(folder.path()).error().message(), folder.path() + ": a directory, not a file");
  EXPECT_EQ(File::open(folder / "none").error().message(), folder / "none" + ": No such file or directory");
  EXPECT_EQ(File::open(folder / "none").error().fault(), Fault::not_found);
  EXPECT_FALSE(File::open(folder / "none" + std::string("\0x", 2)).ok());
}

TEST(File, LinksAreFollowed) {
  const TemporaryFolder folder;
  folder.put("blob", "abc");
  std::filesystem::create_symlink("blob", folder / "link");
  const auto file = File::open(folder / "link");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(read(file.value(), 0, 3), "abc");
}

TEST(File, AMappingOutlivesItsFileAndMoves) {
  const TemporaryFolder folder;
  Mapping mapping;
  {
    auto file = File::open(folder.put("a", "0123456789"));
    ASSERT_TRUE(file.ok());
    mapping = std::move(file.value().map()).value();
  }
  const Mapping moved = std::move(mapping);
  EXPECT_EQ(text_of(moved.bytes()), "0123456789");
  const auto empty = File::open(folder.put("b", ""));
  EXPECT_TRUE(empty.value().map().value().bytes().empty());
}

TEST(File, AWholeFileIsReadUpToALimit) {
  const TemporaryFolder folder;
  folder.put("a", "0123456789");
  EXPECT_EQ(read_file(folder / "a", 10).value(), "0123456789");
  EXPECT_EQ(read_file(folder / "a", 9).error().message(),
            folder / "a" + ": 10 bytes, where at most 9 are read");
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

TEST(WriteFile, ReplacesAFileByAllPartsAndLeavesNothingElse) {
  const TemporaryFolder folder;
  folder.put("a", "old and longer than the new one");
  const std::vector<Bytes> parts = {bytes_of("new "), Bytes(), bytes_of("text")};
  ASSERT_TRUE(write_file_atomically(folder / "a", parts).ok());
  EXPECT_EQ(read_file(folder / "a", 100).value(), "new text");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"a"});
}

TEST(WriteFile, AFailureLeavesTheOldFileAndNoOther) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "taken");
  folder.put("taken/inside", "x");
  const auto onto_folder = write_file_atomically(folder / "taken", bytes_of("new"));
  ASSERT_FALSE(onto_folder.ok());
  EXPECT_EQ(onto_folder.error().message(), folder / "taken" + ": cannot write: Is a directory");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"taken"});

  const auto nowhere = write_file_atomically(folder / "none/a", bytes_of("new"));
  EXPECT_EQ(nowhere.error().message(), folder / "none/a" + ": cannot write: No such file or directory");
}

TEST(WriteFile, AReadOnlyFolderIsAnError) {
  const TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const uid_t user = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (user == 0) {  // root may write everywhere
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const auto written = write_file_atomically(folder / "a", bytes_of("new"));
  if (user == 0) {
    ASSERT_EQ(::seteuid(user), 0);
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message(), folder / "a" + ": cannot write: Permission denied");
}

TEST(WriteFile, ANewFileFollowsTheUsersMask) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(027);
  ASSERT_TRUE(write_file_atomically(folder / "a", bytes_of("new")).ok());
  ::umask(mask);
  struct stat facts = {};
  ASSERT_EQ(::stat((folder / "a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640u);
}

// Where a size limit stops the writing in the middle.
TEST(WriteFile, AWriteThatRunsOutOfRoomLeavesTheOldFile) {
  const TemporaryFolder folder;
  folder.put("a", "old");
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write_file_atomically(folder / "a", bytes_of(std::string(5000, 'x')));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(written.error().message(), folder / "a" + ": cannot write: File too large");
  EXPECT_EQ(written.error().fault(), Fault::exhausted);
  EXPECT_EQ(read_file(folder / "a", 100).value(), "old");
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"a"});
}

TEST(ByteCursor, ReadsNumbersAtAnyAlignmentAndStopsAtTheEnd) {
  const std::string text("\x01\x02\x03\x04\x05\x00\x00\x80\x3f!", 10);
  ByteCursor cursor(bytes_of(text));
  EXPECT_EQ(cursor.number<std::uint8_t>().value(), 1);
  EXPECT_EQ(cursor.number<std::uint32_t>().value(), 0x05040302u);
  EXPECT_EQ(cursor.number<float>().value(), 1.0f);
  EXPECT_EQ(cursor.left(), 1u);
  EXPECT_EQ(cursor.number<std::uint16_t>().error().message(), "2 bytes wanted at byte 9, where 1 are left");
  EXPECT_FALSE(cursor.take(~std::uint64_t{0}).ok());
  EXPECT_EQ(cursor.position(), 9u);
  EXPECT_EQ(text_of(cursor.take(1).value()), "!");
}

}  // namespace
}  // namespace manyspan
