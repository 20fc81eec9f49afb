#include "container/shards.h"

#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "container/safetensors_write.h"

namespace manyspan {
namespace {

constexpr char kFirst[] = "model-00001-of-00002.safetensors";
constexpr char kSecond[] = "model-00002-of-00002.safetensors";

void put_tensor(const std::string& path, const std::string& name, char value = 'v') {
  ASSERT_TRUE(write_safetensors(path, {{name, StoredType::u8, {1}, bytes_of({&value, 1})}}).ok());
}

std::string put_index(const TemporaryFolder& folder, const std::string& map) {
  return folder.put(kIndexName, R"({"metadata":{"total_size":2.0},"weight_map":)" + map + "}");
}

std::string refusal(const std::string& path) {
  const auto container = open_container(path);
  return container.ok() ? "opened" : container.error().message();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Shards, AnIndexJoinsItsFiles) {
  const TemporaryFolder folder;
  put_tensor(folder / kFirst, "b", '1');
  put_tensor(folder / kSecond, "a", '2');
  put_tensor(folder / "other.safetensors", "a");  // not of the set: another matter
  const std::string index =
      put_index(folder, std::string("{\"b\":\"") + kFirst + "\",\"a\":\"" + kSecond + "\"}");
  for (const std::string& path : {folder.path(), folder.path() + "/", index}) {
    const auto opened = open_container(path);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    const Container& container = opened.value();
    ASSERT_EQ(container.tensors().size(), 2u);
    EXPECT_EQ(container.files(), 2u);
    EXPECT_EQ(container.tensors()[0].name, "a");
    EXPECT_EQ(text_of(container.bytes(container.tensors()[0])), "2");
    EXPECT_TRUE(has(container.place(container.tensors()[1]), std::string(kFirst) + ": tensor b"));
  }
}

TEST(Shards, LinksIntoAnotherFolderAreFollowed) {
  const TemporaryFolder blobs, snapshot;
  put_tensor(blobs / "0123abcd", "a");
  blobs.put("index", std::string(R"({"weight_map":{"a":")") + kFirst + "\"}}");
  std::filesystem::create_symlink(blobs / "0123abcd", snapshot / kFirst);
  std::filesystem::create_symlink(blobs / "index", snapshot / kIndexName);
  EXPECT_EQ(refusal(snapshot.path()), "opened");
  EXPECT_EQ(refusal(blobs / "0123abcd"), "opened");
  std::filesystem::remove(blobs / "0123abcd");
  EXPECT_TRUE(has(refusal(snapshot.path()), std::string(kFirst) + ": No such file or directory"));
}

TEST(Shards, AFileNameInTheIndexIsOnlyAName) {
  const TemporaryFolder folder;
  put_tensor(folder / kFirst, "a");
  for (const char* name : {"/etc/hostname", "../x.safetensors", "sub/x.safetensors", "sub\\\\x.safetensors",
                           "..", "x..safetensors", "model.bin", ".safetensors", "", "x\\u0000.safetensors"}) {
    put_index(folder, std::string("{\"a\":\"") + name + "\"}");
    const std::string why = refusal(folder.path());
    EXPECT_TRUE(has(why, std::string(kIndexName) + ": JSON line 1")) << why;
    EXPECT_TRUE(has(why, "its shard's path")) << why;
  }
}

TEST(Shards, AnIndexThatIsNotOneIsRefused) {
  const TemporaryFolder folder;
  put_tensor(folder / kFirst, "a");
  for (const char* text :
       {"", "{}", "[]", "3", R"({"weight_map":3})", R"({"weight_map":[]})", R"({"weight_map":{}})",
        R"({"weight_map":{"a":3}})", R"({"weight_map":{"a":{}}})", R"({"weight_map":{"a":[]}})",
        R"({"weight_map":{"a":"x.safetensors","a":"x.safetensors"}})"}) {
    folder.put(kIndexName, text);
    EXPECT_TRUE(has(refusal(folder.path()), std::string("/") + kIndexName + ": "))
        << text << refusal(folder.path());
  }
}

TEST(Shards, ATensorMustBeInTheShardThatTheIndexNames) {
  const TemporaryFolder folder;
  put_tensor(folder / kFirst, "a");
  put_index(folder, std::string("{\"a\":\"") + kFirst + "\",\"b\":\"" + kFirst + "\"}");
  EXPECT_TRUE(has(refusal(folder.path()), "tensor \"b\" is said to be in")) << refusal(folder.path());
  put_index(folder, std::string("{\"a\":\"") + kFirst + "\",\"b\":\"" + kSecond + "\"}");
  EXPECT_TRUE(has(refusal(folder.path()), "a shard that is missing"));
}

TEST(Shards, ATensorInTwoShardsIsRefused) {
  const TemporaryFolder folder;
  put_tensor(folder / kFirst, "a");
  put_tensor(folder / kSecond, "a");
  const std::string why = refusal(folder.path());
  EXPECT_TRUE(has(why, std::string(kFirst) + ": tensor a is also in ")) << why;
  EXPECT_TRUE(has(why, kSecond)) << why;
  put_index(folder, std::string("{\"a\":\"") + kFirst + "\"}");
  EXPECT_TRUE(has(refusal(folder.path()), "tensor a is also in "));
}

TEST(Shards, WithoutAnIndexTheOneModelFileIsTakenElseAll) {
  const TemporaryFolder folder;
  put_tensor(folder / "x.safetensors", "x");
  put_tensor(folder / "y.safetensors", "y");
  folder.put("._x.safetensors", "another program's notes");
  EXPECT_EQ(open_container(folder.path()).value().tensors().size(), 2u);
  put_tensor(folder / "model.safetensors", "m");
  const auto opened = open_container(folder.path());
  ASSERT_EQ(opened.value().tensors().size(), 1u);
  EXPECT_EQ(opened.value().tensors()[0].name, "m");
}

TEST(Shards, AFolderThatMayOnlyBeReadIsEnough) {
  const TemporaryFolder folder;
  put_tensor(folder / "model.safetensors", "m");
  ASSERT_EQ(::chmod((folder / "model.safetensors").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const uid_t user = ::geteuid();
  constexpr uid_t kNobody = 65534;
  if (user == 0) {  // root may write everywhere
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  const std::string opened = refusal(folder.path());
  if (user == 0) {
    ASSERT_EQ(::seteuid(user), 0);
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0700), 0);
  EXPECT_EQ(opened, "opened");
}

TEST(Open, SaysWhatIsMissingOrNotSupported) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal(folder.path()), folder.path() + ": no *.safetensors or *.gguf file in it");
  EXPECT_EQ(refusal(folder / "none"), folder / "none" + ": No such file or directory");
  EXPECT_EQ(open_container(folder / "none").error().fault(), Fault::not_found);
}

}  // namespace
}  // namespace manyspan
