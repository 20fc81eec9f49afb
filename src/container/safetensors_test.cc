#include "container/safetensors.h"

#include <filesystem>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "container/safetensors_write.h"

namespace manyspan {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  store_little_endian(static_cast<std::uint64_t>(header.size()), reinterpret_cast<std::byte*>(bytes.data()));
  return bytes + header + data;
}

// The message without the path, or the list of what was read.
std::string verdict(const std::string& header, const std::string& data = "") {
  const TemporaryFolder folder;
  const std::string path = folder.put("a.safetensors", file_of(header, data));
  const auto container = open_container(path);
  if (!container.ok()) return container.error().message().substr(path.size() + 2);
  std::string text;
  for (const StoredTensor& tensor : container.value().tensors())
    text +=
        tensor.name + " " + described(tensor) + "@" + std::to_string(tensor.offset - 8 - header.size()) + ";";
  return text;
}

std::string entry(const std::string& type, const std::string& shape, const std::string& offsets) {
  return R"({"x":{"dtype":)" + type + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, FieldsComeInAnyOrderAndUnknownOnesAreIgnored) {
  EXPECT_EQ(
      verdict(R"({"b":{"more":{"dtype":"F32","shape":[[1],{"z":[]}]},"data_offsets":[0,2],"dtype":"BF16",)"
              R"("n":null,"shape":[1,1]},"a":{"shape":[],"dtype":"U8","data_offsets":[2,3]}}   )",
              "abc"),
      "a U8 []@2;b BF16 [1, 1]@0;");
}

TEST(Safetensors, EmptyTensorsAndOddBitsAreWhatTheirTypesSay) {
  EXPECT_EQ(verdict(entry("\"F32\"", "[3,0,5]", "[0,0]")), "x F32 [3, 0, 5]@0;");
  EXPECT_EQ(verdict(entry("\"F4\"", "[2,3]", "[0,3]"), "abc"), "x F4 [2, 3]@0;");
  EXPECT_EQ(verdict(entry("\"F6_E2M3\"", "[4]", "[0,3]"), "abc"), "x F6_E2M3 [4]@0;");
  EXPECT_EQ(verdict(entry("\"C64\"", "[1]", "[0,8]"), "abcdefgh"), "x C64 [1]@0;");
  EXPECT_EQ(verdict(entry("\"F6_E2M3\"", "[3]", "[0,2]"), "ab"),
            "JSON line 1, column 57: tensor \"x\": size is not whole bytes: F6_E2M3 [3]");
}

TEST(Safetensors, AProductMayNotOverflowEvenBehindAZero) {
  for (const char* shape :
       {"[4611686018427387904,4]", "[4294967296,4294967296,4294967296]", "[9223372036854775808]",
        "[4611686018427387904,4611686018427387904,0]", "[0,4611686018427387904,8]"}) {
    EXPECT_NE(verdict(entry("\"U8\"", shape, "[0,0]")).find("overflow 63 bits"), std::string::npos) << shape;
  }
}

TEST(Safetensors, NumbersArePlainIntegers) {
  for (const char* number :
       {"-0", "-1", "1.0", "1e0", "true", "\"1\"", "null", "18446744073709551617", "[1]", "{}"}) {
    const std::string text = number;
    const std::string shape = verdict(entry("\"U8\"", "[" + text + "]", "[0,1]"), "a");
    EXPECT_EQ(shape.find("JSON line 1, column"), 0u) << shape;
    EXPECT_NE(shape.find("tensor \"x\": shape "), std::string::npos) << shape;
    const std::string offsets = verdict(entry("\"U8\"", "[1]", "[0," + text + "]"), "a");
    EXPECT_NE(offsets.find("tensor \"x\": data_offsets "), std::string::npos) << offsets;
  }
}

TEST(Safetensors, EachFieldIsOfItsKind) {
  for (const char* bad : {"null", "1", "[]", "{}", "true"}) {
    EXPECT_NE(verdict(entry(bad, "[1]", "[0,1]"), "a").find("dtype is "), std::string::npos) << bad;
    EXPECT_NE(
        verdict("{\"x\":" + std::string(bad == std::string("{}") ? "3" : bad) + "}").find("not an object"),
        std::string::npos);
  }
  for (const char* bad : {"null", "1", "\"\"", "{}"}) {
    EXPECT_NE(verdict(entry("\"U8\"", bad, "[0,1]"), "a").find("shape is "), std::string::npos) << bad;
    EXPECT_NE(verdict(entry("\"U8\"", "[1]", bad), "a").find("data_offsets is "), std::string::npos) << bad;
  }
  EXPECT_NE(verdict(entry("\"U8\"", "[1]", "[0]"), "a").find("data_offsets has 1 numbers, not 2"),
            std::string::npos);
  EXPECT_NE(verdict(R"({"x":{"dtype":"U8","shape":[1]}})", "a").find("no data_offsets"), std::string::npos);
  EXPECT_NE(verdict(R"({"__metadata__":{"a":{}}})").find("not a string"), std::string::npos);
  EXPECT_NE(verdict(R"({"__metadata__":[]})").find("metadata are an array"), std::string::npos);
  EXPECT_NE(verdict(R"({"__metadata__":{"a":"1","a":"1"}})").find("duplicate key \"a\""), std::string::npos);
  EXPECT_NE(
      verdict(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"n":{"a":1,"a":1}}})").find("duplicate"),
      std::string::npos);
}

TEST(Safetensors, NamesAreBounded) {
  const auto named = [](const std::string& name) {
    return verdict("{\"" + name + "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}");
  };
  EXPECT_EQ(named(std::string(1024, 'n')), std::string(1024, 'n') + " U8 [0]@0;");
  EXPECT_NE(named(std::string(1025, 'n')).find("1025 bytes, at most 1024"), std::string::npos);
  EXPECT_NE(named("").find("name is empty"), std::string::npos);
}

TEST(Safetensors, TheHeaderEndsInSpacesOnly) {
  EXPECT_EQ(verdict("{}      "), "");
  EXPECT_EQ(verdict("{}\n"), "the header is padded with other bytes than spaces");
  EXPECT_NE(verdict("{} x").find("JSON line 1, column 4"), std::string::npos);
  EXPECT_NE(verdict(std::string("{}\0", 3)).find("a zero byte"), std::string::npos);
  EXPECT_NE(verdict(R"({"x":{"n":[[[[[[[[1]]]]]]]]}})").find("nested deeper than 8"), std::string::npos);
}

TEST(Safetensors, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  const std::string path = folder / "out.safetensors";
  const std::string data = "0123456789abcdef";
  ASSERT_TRUE(write_safetensors(path,
                                {{"b", StoredType::f32, {2, 1}, bytes_of(data).subspan(0, 8)},
                                 {"a\"\u00e9", StoredType::u8, {3}, bytes_of(data).subspan(8, 3)},
                                 {"c", StoredType::i64, {}, bytes_of(data).subspan(8)}},
                                {{"format", "pt"}})
                  .ok());
  auto opened = open_container(path);
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  const Container container = std::move(opened).value();
  ASSERT_EQ(container.tensors().size(), 3u);
  EXPECT_EQ(container.tensors()[0].offset % 8, 0u);
  EXPECT_EQ(text_of(container.bytes(*container.find("b"))), "01234567");
  EXPECT_EQ(text_of(container.bytes(*container.find("a\"\u00e9"))), "89a");
  EXPECT_EQ(text_of(container.bytes(*container.find("c"))), "89abcdef");
  EXPECT_EQ(container.find("d"), nullptr);
  EXPECT_EQ(compact_json(container.metadata()), R"({"format":"pt"})");
}

TEST(Safetensors, WhatWouldNotReadBackIsNotWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "out.safetensors";
  const Bytes eight = bytes_of("01234567");
  EXPECT_NE(
      write_safetensors(path, {{"a", StoredType::f32, {1}, eight}}).error().message().find("size differs"),
      std::string::npos);
  for (const char* name : {"", "\xff", "__metadata__"})
    EXPECT_EQ(write_safetensors(path, {{name, StoredType::f32, {2}, eight}}).error().fault(), Fault::invalid)
        << name;
  EXPECT_FALSE(
      write_safetensors(path, {{"a", StoredType::i64, {1}, eight}, {"a", StoredType::i64, {1}, eight}}).ok());
  EXPECT_FALSE(write_safetensors(path, {{"a", StoredType::i64, {-1}, eight}}).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Safetensors, RowsAreReadByNumberAndACutFileIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.safetensors";
  std::string data(40'000, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i / 8);
  ASSERT_TRUE(write_safetensors(path, {{"table", StoredType::i16, {100, 50, 4}, bytes_of(data)}}).ok());
  auto opened = open_container(path);
  ASSERT_TRUE(opened.ok());
  const Container container = std::move(opened).value();
  const StoredTensor& table = *container.find("table");
  EXPECT_EQ(table.rows(), 5000);

  std::vector<std::byte> rows(16);
  ASSERT_TRUE(container.read_rows(table, 77, 2, rows).ok());
  EXPECT_EQ(rows[0], std::byte{77});
  EXPECT_EQ(rows[15], std::byte{78});
  EXPECT_EQ(container.read_rows(table, 4999, 2, rows).error().fault(), Fault::invalid);
  EXPECT_EQ(container.read_rows(table, -1, 2, rows).error().fault(), Fault::invalid);

  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(table.offset) + 1000), 0);
  EXPECT_TRUE(container.read_rows(table, 77, 2, rows).ok());
  const auto cut = container.read_rows(table, 4998, 2, rows);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().fault(), Fault::corrupt);
  EXPECT_NE(cut.error().message().find("tensor table"), std::string::npos);
  EXPECT_NE(cut.error().message().find(path), std::string::npos);
}

TEST(Safetensors, EveryCutOfAFileIsRefusedAndNoChangedByteCrashes) {
  const TemporaryFolder folder;
  const std::string whole =
      file_of(R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
              R"("\u00e9\ud83d\ude00":{"dtype":"U8","shape":[3],"data_offsets":[8,11]}} )",
              "01234567abc");
  ASSERT_TRUE(open_container(folder.put("w", whole)).ok());
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(open_container(folder.put("c", whole.substr(0, length))).ok()) << length;
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string changed = whole;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n)
      changed[random() % whole.size()] = static_cast<char>(random());
    refused += open_container(folder.put("c", changed)).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace manyspan
