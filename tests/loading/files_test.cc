// The files of a checkpoint: closed folders and links are no matter, and files that go wrong are named.
#include <csignal>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/loading/loader.h"
#include "tests/loading/sparse.h"

namespace manyspan::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> one_token(const std::string& model) {
  return {"run", model, "--ids", "1", "--max-tokens", "1", "--context", "256", "--progress", "on"};
}

// Cuts a file short when loading has begun; what then ends the program is an error with the file's name.
void expect_named_when_cut(const Sparse& model, int shard, std::uintmax_t to) {
  const std::uintmax_t size = fs::file_size(model.shard_path(shard));
  const Loaded ran = load({.arguments = one_token(model.path), .when = "loading", .then = [&](pid_t) {
                             fs::resize_file(model.shard_path(shard), to);
                           }});
  EXPECT_TRUE(ran.seconds_after_then);
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_NE(ran.err.find("manyspan: " + model.shard_path(shard) + ": "), ran.err.npos) << ran.err;
  EXPECT_NE(ran.err.find("the file ends at " + std::to_string(to) + "; it had " + std::to_string(size)),
            ran.err.npos)
      << ran.err;
}

TEST(LoadingFiles, CutShortWhileTheyAreRead) {
  const Sparse model = narrow_checkpoint();
  expect_named_when_cut(model, kHeadShard, 4096);
}

// Its rows are read when the first token is run, long after it was opened.
TEST(LoadingFiles, AnEngramTableCutShortInUse) {
  const Sparse model = narrow_checkpoint();
  // Its index and gains stay: what is lost is the table's.
  expect_named_when_cut(model, kEngramShard, 100000);
}

void expect_refused(const Sparse& model, const std::string& why) {
  const Loaded ran = load({.arguments = one_token(model.path), .as_nobody = true});
  EXPECT_EQ(ran.status, 3) << ran.err;
  EXPECT_NE(ran.err.find(model.shard(3) + why), ran.err.npos) << ran.err;
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
}

TEST(LoadingFiles, WhatCannotBeReadIsNamed) {
  const Sparse model = narrow_checkpoint();
  const std::string path = model.shard_path(3);
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  expect_refused(model, ": Permission denied");
  fs::remove(path);
  expect_refused(model, ", a shard that is missing");
  fs::create_symlink("nowhere", path);
  expect_refused(model, ": No such file or directory");
  fs::remove(path);
  fs::create_symlink(path, path);
  expect_refused(model, ": Too many levels of symbolic links");
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0644), 0);
  expect_refused(model, ": not a regular file");
  fs::remove(path);
  fs::create_directory(path);
  expect_refused(model, ": a directory, not a file");
}

// As a download tool's cache has them: a folder of links to files elsewhere, none of which may be written.
TEST(LoadingFiles, ReadOnlyAndThroughLinks) {
  const Sparse model = narrow_checkpoint();
  const std::string blobs = model.folder / "blobs", links = model.folder / "links",
                    link = model.folder / "link";
  fs::rename(model.path, blobs);
  fs::create_directory(links);
  int number = 0;
  for (const auto& file : fs::directory_iterator(blobs)) {
    const std::string blob = blobs + "/" + std::to_string(number++), name = file.path().filename();
    fs::rename(file.path(), blob);
    ASSERT_EQ(chmod(blob.c_str(), 0444), 0);
    fs::create_symlink("../blobs/" + fs::path(blob).filename().string(), links + "/" + name);
  }
  ASSERT_EQ(number, kShards + 3);
  fs::create_directory_symlink("links", link);
  for (const std::string& folder : {blobs, links}) ASSERT_EQ(chmod(folder.c_str(), 0555), 0);
  for (const std::string& path : {links, link, links + "/model.safetensors.index.json"}) {
    const Loaded ran = load({.arguments = one_token(path), .as_nobody = true});
    EXPECT_EQ(ran.status, 0) << path << ": " << ran.err;
    EXPECT_EQ(ran.out, "0\n");
  }
  for (const std::string& folder : {blobs, links}) ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
}

}  // namespace
}  // namespace manyspan::tests
