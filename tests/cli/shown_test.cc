#include <gtest/gtest.h>

#include "apps/progress_bar.h"
#include "apps/terminal.h"
#include "tests/cli/program.h"

namespace manyspan::tests {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(ProgressLine, TellsBytesRateAndTimeLeft) {
  EXPECT_EQ(app::progress_line("loading", 100 * kMiB, 400 * kMiB, 2, 100),
            "loading 100.0 MiB of 400.0 MiB, 50.0 MiB/s, 6 s left");
}

TEST(ProgressLine, FitsANarrowTerminal) {
  for (const int columns : {0, 1, 2, 17, 40}) {
    const std::string line = app::progress_line("loading", 100 * kMiB, 400 * kMiB, 2, columns);
    EXPECT_LT(line.size(), static_cast<std::size_t>(std::max(columns, 1)));
  }
}

TEST(ProgressLine, KnowsNoRateBeforeTheFirstByte) {
  EXPECT_EQ(app::progress_line("loading", 0, 10, 0, 100), "loading 0 B of 10 B");
}

TEST(ProgressBar, AppearsWhenAskedForAndStaysOutOfStandardOutput) {
  const std::vector<std::string> arguments = {"run", "--ids", "0", "--max-tokens", "1", "--json"};
  const Ran silent = run(arguments);
  std::vector<std::string> loud = arguments;
  loud.insert(loud.end(), {"--progress", "on"});
  const Ran shown = run(loud);
  EXPECT_EQ(silent.err, "");
  EXPECT_NE(shown.err.find("loading"), std::string::npos) << shown.err;
  EXPECT_EQ(shown.out, silent.out);
}

TEST(Harmless, KeepsTextAndShowsWhatATerminalWouldObey) {
  EXPECT_EQ(app::harmless("größer\n\t北京 🙂"), "größer\n\t北京 🙂");
  EXPECT_EQ(app::harmless("a\x1b[31mb\r\x7f"), "a\uFFFD[31mb\uFFFD\uFFFD");
  EXPECT_EQ(app::harmless("a\u009b31m"), "a\uFFFD31m");
}

}  // namespace
}  // namespace manyspan::tests
