#include "kernels/vectors.h"

#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include "base/check.h"

namespace manyspan::kernels {

Vectors::Vectors(const std::string& name) {
  std::ifstream file(MANYSPAN_SOURCE_DIR "/tests/data/ops/" + name + ".json");
  CHECK(file.good(), "no such vectors");
  hex_ = nlohmann::json::parse(file).get<std::map<std::string, std::string>>();
}

std::vector<std::uint32_t> Vectors::words(const std::string& key, std::size_t digits) const {
  const std::string& hex = hex_.at(key);
  CHECK(hex.size() % digits == 0, "whole words");
  std::vector<std::uint32_t> words;
  for (std::size_t at = 0; at < hex.size(); at += digits) {
    words.push_back(static_cast<std::uint32_t>(std::stoul(hex.substr(at, digits), nullptr, 16)));
  }
  return words;
}

std::vector<Bf16> Vectors::bf16(const std::string& key) const {
  std::vector<Bf16> out;
  for (const std::uint32_t word : words(key, 4)) out.push_back({static_cast<std::uint16_t>(word)});
  return out;
}
std::vector<float> Vectors::f32(const std::string& key) const {
  std::vector<float> out;
  for (const std::uint32_t word : words(key, 8)) out.push_back(std::bit_cast<float>(word));
  return out;
}
std::vector<std::int32_t> Vectors::i32(const std::string& key) const {
  std::vector<std::int32_t> out;
  for (const std::uint32_t word : words(key, 8)) out.push_back(static_cast<std::int32_t>(word));
  return out;
}
std::vector<std::uint8_t> Vectors::u8(const std::string& key) const {
  std::vector<std::uint8_t> out;
  for (const std::uint32_t word : words(key, 2)) out.push_back(static_cast<std::uint8_t>(word));
  return out;
}

std::vector<std::uint32_t> bits(const std::vector<Bf16>& x) {
  std::vector<std::uint32_t> out;
  for (const Bf16 v : x) out.push_back(v.bits);
  return out;
}
std::vector<std::uint32_t> bits(const std::vector<float>& x) {
  std::vector<std::uint32_t> out;
  for (const float v : x) out.push_back(std::bit_cast<std::uint32_t>(v));
  return out;
}

namespace {

TEST(Vectors, ABf16IsTheTopHalfOfAFloat) {
  const std::vector<Bf16> x = Vectors("turn").bf16("streams");
  ASSERT_EQ(x.size(), 11u * 4 * 32);
  EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](Bf16 v) { return to_float(v) > 10; }));  // outliers are in
}

}  // namespace
}  // namespace manyspan::kernels
