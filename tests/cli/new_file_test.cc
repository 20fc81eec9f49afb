#include "apps/new_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

using app::NewFile;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t files_in(const Folder& folder) {
  const std::filesystem::directory_iterator begin(folder.path()), end;
  return static_cast<std::size_t>(std::distance(begin, end));
}

TEST(NewFile, AppearsWholeWhenCommitted) {
  Folder folder;
  const std::string path = folder.path() + "/out";
  Result<NewFile> file = NewFile::create(path);
  ASSERT_TRUE(file.ok());
  NewFile out = std::move(file).value();
  ASSERT_TRUE(out.write("one ").ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(out.write("two").ok());
  ASSERT_TRUE(out.commit().ok());
  EXPECT_EQ(text_of(path), "one two");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(NewFile, LeavesWhatWasThereWhenItIsNotCommitted) {
  Folder folder;
  const std::string path = folder.file("out", "before");
  {
    NewFile out = NewFile::create(path).value();
    ASSERT_TRUE(out.write("after").ok());
  }
  EXPECT_EQ(text_of(path), "before");
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(NewFile, FollowsALink) {
  Folder folder;
  const std::string target = folder.file("target", "before"), link = folder.path() + "/link";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  NewFile out = NewFile::create(link).value();
  ASSERT_TRUE(out.write("after").ok());
  ASSERT_TRUE(out.commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text_of(target), "after");
}

TEST(NewFile, WritesToADeviceDirectly) {
  NewFile out = NewFile::create("/dev/null").value();
  EXPECT_TRUE(out.write("gone").ok());
  EXPECT_TRUE(out.commit().ok());
  struct stat there {};
  ASSERT_EQ(stat("/dev/null", &there), 0);
  EXPECT_TRUE(S_ISCHR(there.st_mode));
}

TEST(NewFile, AFullDiskIsExhaustion) {
  NewFile out = NewFile::create("/dev/full").value();
  const Result<void> written = out.write("more");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().fault(), Fault::exhausted);
}

TEST(NewFile, AFolderThatIsNotThereIsRefusedByName) {
  Folder folder;
  const Result<NewFile> none = NewFile::create(folder.path() + "/none/out");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message(), folder.path() + "/none/out: No such file or directory");
  EXPECT_FALSE(NewFile::create(folder.path()).ok());
}

}  // namespace
}  // namespace manyspan::tests
