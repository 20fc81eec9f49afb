#include "model/trace_store.h"

#include <cmath>

#include <gtest/gtest.h>

namespace manyspan {
namespace {

TEST(TraceStore, KeepsOnlyWhatIsWanted) {
  TraceStore store([](const std::string& key) { return key == "L3.attn_in"; });
  EXPECT_EQ(store.want("attn_in", LayerId{2}, TapType::f32, 1, 1), nullptr);
  EXPECT_EQ(store.want("x_out", kNoLayer, TapType::f32, 1, 1), nullptr);
  EXPECT_NE(store.want("attn_in", LayerId{3}, TapType::f32, 1, 1), nullptr);
  EXPECT_EQ(store.joined().size(), 1u);
}

TEST(TraceStore, JoinsStepsInOrderAndPadsToTheWidest) {
  TraceStore store([](const std::string&) { return true; });
  const auto first = store.rows<float>("score", LayerId{0}, 2, 1);
  const auto second = store.rows<float>("score", LayerId{0}, 1, 3);
  first.row(0)[0] = 1, first.row(1)[0] = 2;  // the second want() has not moved the first
  for (int i = 0; i < 3; ++i) second.row(0)[i] = static_cast<float>(3 + i);
  const auto all = store.joined();
  const TraceStore::Tensor& t = all.at("L0.score");
  ASSERT_EQ(t.rows, 3);
  ASSERT_EQ(t.cols, 3);
  const float* values = reinterpret_cast<const float*>(t.bytes.data());
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isinf(values[1]) && values[1] < 0);
  EXPECT_EQ(values[3], 2);
  EXPECT_EQ(values[8], 5);
}

TEST(TraceStore, IntegersArePaddedWithMinusOne) {
  TraceStore store([](const std::string&) { return true; });
  store.rows<std::int32_t>("rows", LayerId{0}, 1, 1).row(0)[0] = 9;
  store.rows<std::int32_t>("rows", LayerId{0}, 1, 2).row(0)[1] = 8;
  const auto all = store.joined();
  const auto* values = reinterpret_cast<const std::int32_t*>(all.at("L0.rows").bytes.data());
  EXPECT_EQ(values[0], 9);
  EXPECT_EQ(values[1], -1);
  EXPECT_EQ(values[3], 8);
}

TEST(TraceStore, KeysAreTheOracles) {
  EXPECT_EQ(tap_key("attn_in", LayerId{12}), "L12.attn_in");
  EXPECT_EQ(tap_key("x_out", kNoLayer), "x_out");
}

}  // namespace
}  // namespace manyspan
