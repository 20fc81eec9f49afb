#include "verify/manifest.h"

#include <gtest/gtest.h>

#include "verify/sha256.h"

namespace manyspan {
namespace {

const std::string kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string refusal(const std::string& text) {
  auto parsed = parse_manifest(text);
  return parsed.ok() ? "accepted" : parsed.error().message();
}

TEST(Sha256, OfNothingAndOfPartsIsThePublishedOne) {
  EXPECT_EQ(Sha256().hex(), kEmpty);
  Sha256 abc;
  abc.add(bytes_of("a"));
  abc.add(bytes_of(""));
  abc.add(bytes_of("bc"));
  EXPECT_EQ(abc.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Manifest, WhatIsWrittenIsReadAgain) {
  const std::vector<ManifestEntry> entries = {{kEmpty, "model.safetensors"},
                                              {kEmpty, "a\\b\nc\rd"},
                                              {kEmpty, "  two  blanks "},
                                              {kEmpty, "in/a folder"}};
  const auto read = parse_manifest(manifest_text(entries));
  ASSERT_TRUE(read.ok()) << read.error().message();
  ASSERT_EQ(read.value().size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(read.value()[i].name, entries[i].name);
    EXPECT_EQ(read.value()[i].hex, kEmpty);
  }
  EXPECT_EQ(manifest_text({{kEmpty, "a\\b"}}), "\\" + kEmpty + "  a\\\\b\n");
}

TEST(Manifest, BinaryMarksUpperCaseCommentsAndCarriageReturnsAreTaken) {
  std::string upper = kEmpty;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  const auto read = parse_manifest("# by hand\r\n\r\n" + upper + " *x\r\n" + kEmpty + "  y");
  ASSERT_TRUE(read.ok()) << read.error().message();
  ASSERT_EQ(read.value().size(), 2u);
  EXPECT_EQ(read.value()[0].hex, kEmpty);
  EXPECT_EQ(read.value()[0].name, "x");
  EXPECT_EQ(read.value()[1].name, "y");
}

TEST(Manifest, NamesThatLeadElsewhereAreRefusedWithTheLine) {
  const auto said = [](const std::string& name) { return refusal(kEmpty + "  ok\n" + kEmpty + "  " + name); };
  for (const std::string name : {"..", "../x", "a/../../x", "a/.."})
    EXPECT_EQ(said(name), "line 2: a name that leads out of the folder: \"" + name + "\"");
  EXPECT_EQ(said("/etc/passwd"), "line 2: an absolute name: \"/etc/passwd\"");
  EXPECT_NE(said(std::string("a\0b", 3)).find("a zero byte"), std::string::npos);
  EXPECT_EQ(said("..x/y.."), "accepted");
}

TEST(Manifest, OtherLinesAreRefused) {
  const std::string form = "line 1: expected 64 hexadecimal digits, two blanks and a name";
  for (const std::string& text :
       {kEmpty, kEmpty + "  ", kEmpty.substr(1) + "  x", "g" + kEmpty.substr(1) + "  x", kEmpty + "\t x",
        "SHA256 (x) = " + kEmpty, std::string("\\")})
    EXPECT_EQ(refusal(text), form) << text;
  EXPECT_NE(refusal("\\" + kEmpty + "  a\\t").find("a backslash before"), std::string::npos);
  EXPECT_NE(refusal("\\" + kEmpty + "  a\\").find("a backslash before"), std::string::npos);
  EXPECT_EQ(refusal(kEmpty + "  x\n" + kEmpty + "  x\n"), "line 2: \"x\" a second time");
  EXPECT_EQ(refusal(""), "no file is named in it");
  EXPECT_EQ(refusal("# nothing\n"), "no file is named in it");
}

}  // namespace
}  // namespace manyspan
