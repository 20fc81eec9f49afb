#include "base/log.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

TEST(Log, IsSilentWithoutASinkAndBelowItsLevel) {
  std::vector<std::string> heard;
  log(LogLevel::error, "nobody listens");
  EXPECT_FALSE(log_wants(LogLevel::error));

  set_log_sink(
      [&](const LogEvent& event) {
        std::string line(event.what);
        for (const LogField& field : event.fields)
          line += " " + std::string(field.key) + compact_json(field.value);
        heard.push_back(line);
      },
      LogLevel::warning);
  log(LogLevel::info, "too low");
  log(LogLevel::warning, "file opened", {{"bytes=", 12}, {"path=", "a\"b"}});
  EXPECT_FALSE(log_wants(LogLevel::silent));
  set_log_sink({});
  log(LogLevel::error, "nobody listens again");
  EXPECT_EQ(heard, std::vector<std::string>{"file opened bytes=12 path=\"a\\\"b\""});
}

}  // namespace
}  // namespace manyspan
