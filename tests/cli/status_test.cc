#include "apps/status.h"

#include <gtest/gtest.h>

namespace manyspan::tests {
namespace {

using app::one_line;
using app::Status;

TEST(ExitStatus, FollowsFromTheFault) {
  const auto status = [](Fault fault) { return app::status_of(Error(fault, "")); };
  EXPECT_EQ(status(Fault::invalid), Status::misused);
  EXPECT_EQ(status(Fault::not_found), Status::refused);
  EXPECT_EQ(status(Fault::corrupt), Status::refused);
  EXPECT_EQ(status(Fault::unsupported), Status::refused);
  EXPECT_EQ(status(Fault::exhausted), Status::failed);
  EXPECT_EQ(status(Fault::device_lost), Status::failed);
}

TEST(ExitStatus, WhatAFileAsksForIsNeverWrongUsage) {
  EXPECT_EQ(app::status_of(app::of_file(Error(Fault::invalid, "x"))), Status::refused);
  EXPECT_EQ(app::status_of(app::of_file(Error(Fault::exhausted, "x"))), Status::failed);
}

TEST(OneLine, KeepsPlainTextOfAnyScript) {
  EXPECT_EQ(one_line("größer 北京 🙂"), "größer 北京 🙂");
}

TEST(OneLine, JoinsLines) {
  EXPECT_EQ(one_line("config.json:\nhidden_size: 0\nlayers: -1"), "config.json: hidden_size: 0; layers: -1");
}

TEST(OneLine, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(one_line("a\x1b[31mb\r\tc"), "a\\u001b[31mb\\u000d\\u0009c");
  EXPECT_EQ(one_line("a\u202eb\u2028c"), "a\\u202eb\\u2028c");
}

TEST(OneLine, ReplacesBrokenText) {
  EXPECT_EQ(one_line("a\xff\xfe"
                     "b"),
            "a\uFFFD\uFFFDb");
}

}  // namespace
}  // namespace manyspan::tests
