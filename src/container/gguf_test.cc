#include "container/gguf.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "container/gguf_trial.h"
#include "container/gguf_write.h"

namespace manyspan {
namespace {

const std::string kFixtures = MANYSPAN_SOURCE_DIR "/tests/data/hostile/";

std::string refusal(const std::string& path) {
  const auto container = open_container(path);
  return container.ok() ? "opened" : container.error().message();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << (text)

TEST(Gguf, EveryValueTypeIsReadExactly) {
  const auto opened = open_container(kFixtures + "ok_every_value_type.gguf");
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(opened.value().format(), ContainerFormat::gguf);
  EXPECT_EQ(
      compact_json(opened.value().metadata()),
      R"({"general.architecture":"deepseek41","t.0":1,"t.1":1,"t.2":1,"t.3":1,"t.4":1,"t.5":1,"t.6":1.0,)"
      "\"t.7\":true,\"t.10\":1,\"t.11\":1,\"t.12\":1.0,\"t.s\":\"\u8a9e\",\"t.e\":\"\","
      R"("a.0":[0,1],"a.1":[0,1],"a.2":[0,1],"a.3":[0,1],"a.4":[0,1],"a.5":[0,1],"a.6":[0.0,1.0],)"
      R"("a.7":[false,true],"a.10":[0,1],"a.11":[0,1],"a.12":[0.0,1.0],"a.s":["x",""],"a.none":[]})");
}

TEST(Gguf, WhatIsWrittenReadsBack) {
  const TemporaryFolder folder;
  GgufKeys keys;
  keys.add("general.architecture", "deepseek41");
  keys.add("most", std::numeric_limits<std::uint64_t>::max());
  keys.add("least", std::numeric_limits<std::int64_t>::min());
  keys.add("small", std::vector<std::int8_t>{-128, 127});
  keys.add("multipliers", std::vector<std::uint64_t>{76632096046245, 82619226485591});
  keys.add("eps", 1e-6f);
  keys.add("wide", 1e-6);
  keys.add("flag", true);
  keys.add("texts", std::vector<std::string>{"\u0120a", ""});
  const std::string block(2 * 34, 'q'), floats(24, 'f'), byte(1, 'b');
  const std::vector<TensorToWrite> tensors = {{"z", StoredType::q8_0, {2, 32}, bytes_of(block)},
                                              {"a", StoredType::f32, {3, 1, 2}, bytes_of(floats)},
                                              {"s", StoredType::i8, {}, bytes_of(byte)},
                                              {"none", StoredType::bf16, {0}, {}}};
  for (const std::uint32_t alignment : {32u, 1u, 16384u}) {
    const std::string path = folder / "m.gguf";
    ASSERT_TRUE(write_gguf(path, keys, tensors, alignment).ok());
    const auto opened = open_container(path);
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    const Container& c = opened.value();
    ASSERT_EQ(c.tensors().size(), 4u);
    EXPECT_EQ(described(*c.find("z")), "Q8_0 [2, 32]");
    EXPECT_EQ(described(*c.find("a")), "F32 [3, 1, 2]");
    EXPECT_EQ(described(*c.find("s")), "I8 []");
    EXPECT_EQ(text_of(c.bytes(*c.find("z"))), block);
    EXPECT_EQ(text_of(c.bytes(*c.find("a"))), floats);
    EXPECT_EQ(text_of(c.bytes(*c.find("s"))), byte);
    EXPECT_EQ(c.find("z")->offset % alignment, 0u);
    std::vector<std::byte> row(34);
    ASSERT_TRUE(c.read_rows(*c.find("z"), 1, 1, row).ok());
    const Json& m = c.metadata();
    EXPECT_EQ(m.find("most")->natural(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(m.find("least")->integer(), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(compact_json(*m.find("small")), "[-128,127]");
    EXPECT_EQ(compact_json(*m.find("multipliers")), "[76632096046245,82619226485591]");
    EXPECT_EQ(m.find("eps")->number(), double{1e-6f});
    EXPECT_EQ(m.find("wide")->number(), 1e-6);
    EXPECT_EQ(compact_json(*m.find("texts")), "[\"\u0120a\",\"\"]");
  }
}

TEST(Gguf, WhatWouldNotReadBackIsNotWritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.gguf", four(4, 'x');
  const auto why = [&](const GgufKeys& keys, std::vector<TensorToWrite> tensors) {
    const auto written = write_gguf(path, keys, tensors);
    return written.ok() ? "written" : written.error().message();
  };
  EXPECT_HAS(why({}, {{"a", StoredType::f8_e4m3, {4}, bytes_of(four)}}), "GGUF has no type F8_E4M3");
  EXPECT_HAS(why({}, {{"a", StoredType::i8, {2}, bytes_of(four)}}), "I8 [2] is 2 bytes, but 4 are given");
  EXPECT_HAS(why({}, {{"", StoredType::f32, {1}, bytes_of(four)}}), "the name of tensor 0 is empty");
  EXPECT_HAS(why({}, {{"a", StoredType::q8_0, {4}, bytes_of(four)}}), "no whole blocks of 32");
  GgufKeys twice;
  twice.add("k", 1);
  twice.add("k", 2);
  EXPECT_HAS(why(twice, {}), "key \"k\" is a duplicate");
  EXPECT_EQ(refusal(path), path + ": No such file or directory");
}

// A matrix of 4 rows of 128, whose type is 42: 36 bytes a row for one program, 129 for another.
std::string of_shared_type(std::uint32_t number, std::size_t bytes, std::uint64_t next) {
  std::string front =
      gguf_counts(2, 0) + gguf_tensor("w", {256, 4}, number, 0) + gguf_tensor("x", {8}, 24, next);
  return gguf_padded(front) + gguf_padded(std::string(bytes, 'w')) + "12345678";
}

TEST(Gguf, ATypeNumberThatProgramsShareIsSettledByTheBytes) {
  const TemporaryFolder folder;
  const auto type = [&](const std::string& file) {
    const auto opened = open_container(folder.put("m.gguf", file));
    return opened.ok() ? described(*opened.value().find("w")) : opened.error().message();
  };
  EXPECT_EQ(type(of_shared_type(42, 4 * 72, 288)), "Q2_0 [4, 256]");
  EXPECT_EQ(type(of_shared_type(42, 4 * 258, 1056)), "F8_E4M3_B128 [4, 256]");
  EXPECT_EQ(type(of_shared_type(43, 4 * 264, 1056)), "MXFP8_B256 [4, 256]");
  EXPECT_HAS(type(of_shared_type(42, 4 * 100, 416)), "tensor \"w\": type 42 means different things");
  EXPECT_HAS(type(of_shared_type(42, 4 * 100, 416)), "fit none of those known here (Q2_0, F8_E4M3_B128)");
  EXPECT_HAS(type(of_shared_type(43, 4 * 72, 288)), "type 43 means different things");
  // The last tensor's bytes end with the file, padded or not.
  const std::string front = gguf_padded(gguf_counts(1, 0) + gguf_tensor("w", {128, 3}, 42, 0));
  EXPECT_EQ(type(front + std::string(3 * 36, 'w')), "Q2_0 [3, 128]");
  EXPECT_EQ(type(front + std::string(3 * 129, 'w')), "F8_E4M3_B128 [3, 128]");
  EXPECT_EQ(type(front + gguf_padded(std::string(3 * 129, 'w'))), "F8_E4M3_B128 [3, 128]");
  // All tensors of a file agree: here each fits another reading.
  const std::string both =
      gguf_padded(gguf_counts(2, 0) + gguf_tensor("w", {128, 2}, 42, 0) + gguf_tensor("v", {128, 2}, 42, 96));
  EXPECT_HAS(type(both + std::string(96 + 258, 'w')), "fit none");
  EXPECT_HAS(type(gguf_padded(gguf_counts(1, 0) + gguf_tensor("w", {128, 0}, 42, 0))), "do not tell which");
}

TEST(Gguf, OtherProgramsTypesAreRefusedByName) {
  const TemporaryFolder folder;
  const auto why = [&](std::uint32_t type) {
    return refusal(folder.put("m.gguf", gguf_padded(gguf_counts(1, 0) + gguf_tensor("w", {256}, type, 0))));
  };
  EXPECT_HAS(why(4), "m.gguf: tensor \"w\": type 4 (Q4_2) was withdrawn");
  EXPECT_HAS(why(33), "type 33 (Q4_0_8_8) was withdrawn");
  EXPECT_HAS(why(139), "type 139 is known to ik_llama.cpp alone");
  EXPECT_HAS(why(202), "type 202 is a row-interleaved repack of ik_llama.cpp; convert");
  EXPECT_HAS(why(9999), "type 9999 is not known");
}

TEST(Gguf, ListsMayNestFourDeepAndNoDeeper) {
  const TemporaryFolder folder;
  const auto nested = [&](int depth) {
    std::string file = gguf_counts(0, 1) + gguf_text("k") + le(9u);
    for (int i = 1; i < depth; ++i) file += le(9u) + le(std::uint64_t{1});
    return refusal(folder.put("m.gguf", file + le(0u) + le(std::uint64_t{1}) + "x"));
  };
  EXPECT_EQ(nested(1), "opened");
  EXPECT_EQ(nested(4), "opened");
  EXPECT_HAS(nested(5), "key \"k\": lists are nested deeper than 4");
}

TEST(Gguf, TheAlignmentMustBeAU32PowerOfTwo) {
  const TemporaryFolder folder;
  const auto why = [&](const std::string& value) {
    return refusal(folder.put("m.gguf", gguf_counts(0, 1) + gguf_text("general.alignment") + value));
  };
  EXPECT_EQ(why(le(4u) + le(1u << 20)), "opened");
  EXPECT_HAS(why(le(4u) + le(1u << 21)), "the alignment is 2097152, must be a power of two up to 1048576");
  EXPECT_HAS(why(le(5u) + le(32u)), "must have type 4, a u32");
}

TEST(Gguf, TextThatIsNotUtf8IsRefused) {
  const TemporaryFolder folder;
  const auto why = [&](const std::string& file) { return refusal(folder.put("m.gguf", file)); };
  EXPECT_HAS(why(gguf_counts(0, 1) + gguf_text("k\xff") + le(0u) + "x"), "key 0 is not UTF-8");
  EXPECT_HAS(why(gguf_counts(0, 1) + gguf_text("k") + le(8u) + gguf_text("\xc0\x80")),
             "key \"k\": a text is not");
  EXPECT_HAS(why(gguf_padded(gguf_counts(1, 0) + gguf_tensor("\xff", {0}, 0, 0))),
             "name of tensor 0 is not UTF-8");
}

TEST(Gguf, EveryCutOfAFileIsRefusedAndNoChangedByteCrashes) {
  const TemporaryFolder folder;
  GgufKeys keys;
  keys.add("k", std::vector<std::string>{"v", "w"});
  keys.add("n", 7u);
  const std::string eight(8, 'x'), block(17, 'y');
  const std::string path = folder / "w.gguf";
  const std::vector<TensorToWrite> tensors = {{"a", StoredType::f32, {1, 2}, bytes_of(eight)},
                                              {"b", StoredType::mxfp4_ggml, {32}, bytes_of(block)}};
  ASSERT_TRUE(write_gguf(path, keys, tensors).ok());
  const std::string whole = read_file(path, 1 << 20).value();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(open_container(folder.put("c.gguf", whole.substr(0, length))).ok()) << length;
  std::mt19937 random(11);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string changed = whole;
    for (int n = 1 + static_cast<int>(random() % 3); n > 0; --n)
      changed[random() % whole.size()] = static_cast<char>(random());
    refused += open_container(folder.put("c.gguf", changed)).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace manyspan
