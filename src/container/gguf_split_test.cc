#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "container/container.h"
#include "container/gguf_trial.h"
#include "container/gguf_write.h"

namespace manyspan {
namespace {

constexpr char kFirst[] = "m-00001-of-00002.gguf", kSecond[] = "m-00002-of-00002.gguf";

struct Split {
  std::uint16_t no, count = 2;
  std::int32_t tensors = 2;
};

void put(const std::string& path, const Split& split, const std::string& tensor,
         std::uint32_t alignment = 32) {
  GgufKeys keys;
  keys.add("split.no", split.no);
  keys.add("split.count", split.count);
  keys.add("split.tensors.count", split.tensors);
  const std::vector<TensorToWrite> tensors = {{tensor, StoredType::i8, {1}, bytes_of(tensor).first(1)}};
  ASSERT_TRUE(write_gguf(path, keys, tensors, alignment).ok());
}

std::string refusal(const std::string& path) {
  const auto container = open_container(path);
  return container.ok() ? "opened" : container.error().message();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << (text)

TEST(GgufSplit, TheFirstPartOrTheFolderOpensThemAll) {
  const TemporaryFolder folder;
  put(folder / kFirst, {0}, "b");
  put(folder / kSecond, {1}, "a", 64);
  for (const std::string& path : {folder / kFirst, folder.path()}) {
    const auto opened = open_container(path);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    ASSERT_EQ(opened.value().tensors().size(), 2u);
    EXPECT_EQ(text_of(opened.value().bytes(opened.value().tensors()[0])), "a");
    EXPECT_EQ(opened.value().metadata(1).find("split.no")->natural(), 1u);
  }
}

TEST(GgufSplit, AnotherPartNamesTheFirst) {
  const TemporaryFolder folder;
  put(folder / kFirst, {0}, "b");
  put(folder / kSecond, {1}, "a");
  EXPECT_EQ(refusal(folder / kSecond),
            folder / kSecond + ": split set: this is part 2 of 2; open its first part, " + kFirst);
  EXPECT_EQ(open_container(folder / kSecond).error().fault(), Fault::invalid);
  std::filesystem::rename(folder / kFirst, folder / "n.gguf");
  EXPECT_HAS(refusal(folder / "n.gguf"), "its name must end in -00001-of-NNNNN.gguf");
  std::filesystem::rename(folder / kSecond, folder / "n.gguf");
  EXPECT_HAS(refusal(folder / "n.gguf"), "this is part 2 of 2; open its first part");
}

TEST(GgufSplit, PartsMustBelongTogether) {
  const TemporaryFolder folder;
  put(folder / kFirst, {0}, "b");
  EXPECT_HAS(refusal(folder / kFirst), folder / kFirst + ": the split set is not whole: split.count is 2");
  EXPECT_HAS(refusal(folder / kFirst), "m-00002-of-00002.gguf, is missing");
  const auto second = [&](const Split& split, const std::string& tensor) {
    put(folder / kSecond, split, tensor);
    const std::string why = refusal(folder / kFirst);
    EXPECT_TRUE(why.starts_with(folder / kFirst)) << why;
    return why;
  };
  EXPECT_HAS(second({0}, "a"), "m-00002-of-00002.gguf has split.no 0, must be 1");
  EXPECT_HAS(second({1, 3}, "a"), "m-00002-of-00002.gguf has split.count 3, must be 2");
  EXPECT_HAS(second({1}, "b"), "tensor b is also in ");
  folder.put(kSecond, gguf_counts(0, 0));
  EXPECT_HAS(refusal(folder / kFirst), "has split.no missing, must be 1");
  put(folder / kFirst, {0, 2, 3}, "b");
  EXPECT_HAS(second({1, 2, 3}, "a"), "split.tensors.count is 3, but the parts have 2 tensors");
  put(folder / kFirst, {0, 3}, "b");
  EXPECT_HAS(refusal(folder / kFirst), "split.count is 3, but the name says 2 parts");
}

TEST(GgufSplit, AFolderHoldsOneModel) {
  const TemporaryFolder folder;
  put(folder / kSecond, {1}, "a");
  EXPECT_HAS(refusal(folder.path()), "lacks its first part, m-00001-of-00002.gguf");
  put(folder / kFirst, {0}, "b");
  put(folder / "other.gguf", {0, 1, 1}, "c");
  EXPECT_HAS(refusal(folder.path()), "holds 2 GGUF models; name one of them, such as m-00001-of-00002.gguf");
  EXPECT_EQ(refusal(folder / "other.gguf"), "opened");
  std::filesystem::remove(folder / kFirst);
  std::filesystem::remove(folder / kSecond);
  EXPECT_EQ(refusal(folder.path()), "opened");
}

}  // namespace
}  // namespace manyspan
