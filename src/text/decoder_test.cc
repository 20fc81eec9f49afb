#include "text/decoder.h"

#include <gtest/gtest.h>

#include "text/fixtures.h"

namespace manyspan::text {
namespace {

TokenId byte_token(unsigned char byte) {
  const Tokenizer& tokenizer = small_tokenizer();
  for (std::int32_t id = 3; id < 259; ++id) {
    if (tokenizer.bytes_of(TokenId{id}) == std::string(1, static_cast<char>(byte))) return TokenId{id};
  }
  return TokenId{-1};
}

TEST(Decoder, ACharacterComesOutWhenItsLastByteIsIn) {
  Decoder decoder(small_tokenizer(), Decoder::Controls::show);
  EXPECT_EQ(decoder.push(byte_token(0xF0)), "");
  EXPECT_EQ(decoder.push(byte_token(0x9F)), "");
  EXPECT_EQ(decoder.push(byte_token(0x98)), "");
  EXPECT_EQ(decoder.push(byte_token(0x80)), "😀");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(Decoder, WhatCanNeverBeCompletedIsReplacedAtOnce) {
  Decoder decoder(small_tokenizer(), Decoder::Controls::show);
  EXPECT_EQ(decoder.push(byte_token(0x80)), "\uFFFD");
  EXPECT_EQ(decoder.push(byte_token(0xE4)), "");
  EXPECT_EQ(decoder.push(byte_token('a')), "\uFFFDa");
  EXPECT_EQ(decoder.push(byte_token(0xE4)), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
  EXPECT_EQ(decoder.push(byte_token('b')), "b");
}

TEST(Decoder, ControlsAreShownOrHiddenAsAsked) {
  const TokenId think = *small_tokenizer().control("<think>");
  EXPECT_EQ(Decoder(small_tokenizer(), Decoder::Controls::show).push(think), "<think>");
  EXPECT_EQ(Decoder(small_tokenizer(), Decoder::Controls::hide).push(think), "");
}

TEST(Decoder, AnIdThatOnlyTheModelHasIsNoText) {
  Decoder decoder(small_tokenizer(), Decoder::Controls::show);
  EXPECT_EQ(decoder.push(TokenId{3200}), "");
  EXPECT_EQ(decoder.push(TokenId{-5}), "");
}

}  // namespace
}  // namespace manyspan::text
