#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/temporary_folder.h"

namespace manyspan {
namespace {

namespace fs = std::filesystem;

std::size_t entries(const std::string& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

mode_t type_of(const std::string& path) {
  struct stat facts = {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
  return facts.st_mode & S_IFMT;
}

std::string refusal(const std::string& path, std::string_view text = "new") {
  const auto written = write_file_atomically(path, bytes_of(text));
  return written.ok() ? "written" : written.error().message();
}

TEST(WriteTarget, ALinkStaysAndWhatItLeadsToIsReplaced) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  folder.put("there/file", "old");
  fs::create_symlink("there/middle", folder / "link");
  fs::create_symlink("file", folder / "there/middle");
  EXPECT_EQ(refusal(folder / "link"), "written");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_TRUE(fs::is_symlink(folder / "there/middle"));
  EXPECT_EQ(type_of(folder / "there/file"), mode_t{S_IFREG});
  EXPECT_EQ(read_file(folder / "there/file", 100).value(), "new");
  EXPECT_EQ(entries(folder / "there"), 2u);
  EXPECT_EQ(entries(folder.path()), 2u);
}

TEST(WriteTarget, ALinkToNothingMakesItsTarget) {
  const TemporaryFolder folder;
  fs::create_symlink(folder / "made", folder / "link");
  EXPECT_EQ(refusal(folder / "link"), "written");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "made", 100).value(), "new");
}

TEST(WriteTarget, LinksInACircleAreAnError) {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  EXPECT_EQ(refusal(folder / "a"), folder / "a" + ": cannot write: Too many levels of symbolic links");
}

TEST(WriteTarget, PartsMadeOneAtATimeAreTheFileAndTheirErrorLeavesTheOldOne) {
  const TemporaryFolder folder;
  int asked = 0;
  const NextPart three = [&]() -> Result<Bytes> { return bytes_of(++asked <= 3 ? "abc" : ""); };
  ASSERT_TRUE(write_file_atomically(folder / "a", three).ok());
  EXPECT_EQ(read_file(folder / "a", 100).value(), "abcabcabc");
  const NextPart failing = [&]() -> Result<Bytes> {
    if (++asked < 6) return bytes_of("d");
    return Error(Fault::device_lost, "gone");
  };
  const auto failed = write_file_atomically(folder / "a", failing);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().fault(), Fault::device_lost);
  EXPECT_EQ(read_file(folder / "a", 100).value(), "abcabcabc");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(WriteTarget, AnOldFileKeepsItsPermissions) {
  const TemporaryFolder folder;
  for (const mode_t mode : {0600, 0666, 0751}) {
    ASSERT_EQ(::chmod(folder.put("file", "old").c_str(), mode), 0);
    ASSERT_EQ(refusal(folder / "file"), "written");
    struct stat facts = {};
    ASSERT_EQ(::stat((folder / "file").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, mode);
  }
}

// Through links only: whoever runs this as root would lose the device itself to a mistake.
TEST(WriteTarget, ADeviceIsWrittenToAndStays) {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/null", folder / "null");
  fs::create_symlink("/dev/full", folder / "full");
  EXPECT_EQ(refusal(folder / "null"), "written");
  EXPECT_EQ(refusal(folder / "full"), folder / "full" + ": cannot write: No space left on device");
  for (const std::string name : {"null", "full"}) {
    EXPECT_TRUE(fs::is_symlink(folder / name));
    EXPECT_EQ(type_of("/dev/" + name), mode_t{S_IFCHR});
  }
  EXPECT_EQ(entries(folder.path()), 2u);
}

TEST(WriteTarget, APipeIsWrittenToItsReader) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe + ": cannot write: nobody reads this pipe");
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_EQ(::fcntl(reader, F_SETFL, 0), 0);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  std::string outcome;
  std::thread writer([&] { outcome = refusal(pipe, text); });
  std::size_t got = 0;
  char some[4096];
  while (got < text.size()) {
    const ssize_t count = ::read(reader, some, sizeof some);
    if (count > 0) got += static_cast<std::size_t>(count);
  }
  writer.join();
  ::close(reader);
  EXPECT_EQ(outcome, "written");
  EXPECT_EQ(got, text.size());
  EXPECT_EQ(type_of(pipe), mode_t{S_IFIFO});
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST(WriteTarget, AReaderThatGoesAwayIsAnErrorAndNoSignal) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ASSERT_EQ(::fcntl(reader, F_SETFL, 0), 0);
  std::string outcome;
  std::thread writer([&] { outcome = refusal(pipe, std::string(1 << 20, 'x')); });
  char one = 0;
  while (::read(reader, &one, 1) != 1) {
  }
  ::close(reader);
  writer.join();
  EXPECT_EQ(outcome, pipe + ": cannot write: Broken pipe");
  sigset_t blocked;
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
  EXPECT_EQ(::sigismember(&blocked, SIGPIPE), 0);
}

TEST(WriteTarget, ASocketIsRefusedAndStays) {
  const TemporaryFolder folder;
  const std::string path = folder / "socket";
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(listening, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(path), path + ": a socket, not a file");
  ::close(listening);
  EXPECT_EQ(type_of(path), mode_t{S_IFSOCK});
}

TEST(WriteTarget, AFileThatHasNoNameAnyMoreIsWrittenThroughItsDescriptor) {
  const TemporaryFolder folder;
  const int kept = ::open(folder.put("file", "old and longer").c_str(), O_RDWR);
  ASSERT_GE(kept, 0);
  fs::remove(folder / "file");
  EXPECT_EQ(refusal("/proc/self/fd/" + std::to_string(kept)), "written");
  char text[20] = {};
  EXPECT_EQ(::pread(kept, text, sizeof text, 0), 3);
  EXPECT_STREQ(text, "new");
  ::close(kept);
  EXPECT_EQ(entries(folder.path()), 0u);
}

}  // namespace
}  // namespace manyspan
