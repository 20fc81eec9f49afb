#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"

namespace manyspan {
namespace {

const kernels::Table* whole_table;  // what the rows below call
float put_in;                       // as the logit of token 7
std::int64_t from_position;         // of the token to be drawn

// The last host table, with one logit replaced from a position on.
kernels::Table with_broken_logits(float logit, std::int64_t from) {
  whole_table = kernels::host_tables().back();
  put_in = logit;
  from_position = from;
  kernels::Table broken = *whole_table;
  broken.name = "broken";
  broken.sample.enqueue = [](Queue& queue, const kernels::Sample& p) {
    std::vector<float> logits(p.logits.data, p.logits.data + p.logits.rows * p.logits.cols);
    for (std::int64_t row = 0; row < p.logits.rows; ++row) {
      if (p.wishes[row].position.value >= from_position) logits[row * p.logits.cols + 7] = put_in;
    }
    kernels::Sample changed = p;
    changed.logits.data = logits.data();
    whole_table->sample.enqueue(queue, changed);
  };
  return broken;
}

std::unique_ptr<Engine> opened(const kernels::Table& table) {
  return Engine::open({.model = MANYSPAN_SOURCE_DIR "/tests/data/t1_base", .kernels = &table}).value();
}

Request request(float temperature) {
  Request r{.prompt = {{5}, {12}, {19}, {26}}, .max_tokens = 6, .sampling = {.temperature = temperature}};
  return r;
}

TEST(Generate, LogitsThatAreNotFiniteEndItWithAnError) {
  for (const float logit : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const kernels::Table broken = with_broken_logits(logit, 0);
    const auto engine = opened(broken);
    const SessionId session = engine->open_session().value();
    for (const float temperature : {0.0f, 1.0f}) {
      const auto answer = engine->generate(session, request(temperature));
      ASSERT_FALSE(answer.ok());
      EXPECT_EQ(answer.error().fault(), Fault::corrupt);
      EXPECT_EQ(answer.error().message(),
                "the model's logits are not finite at position 3; the checkpoint is damaged or unsuited");
    }
  }
}

TEST(Generate, AFaultInTheMiddleOfAnAnswerNamesItsPositionAndTheSessionStartsAfresh) {
  const kernels::Table broken = with_broken_logits(std::nanf(""), 6);
  const auto engine = opened(broken);
  const SessionId session = engine->open_session().value();
  const auto answer = engine->generate(session, request(0));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().message(),
            "the model's logits are not finite at position 5; the checkpoint is damaged or unsuited");
  from_position = 1 << 20;
  const auto again = engine->generate(session, request(0));
  ASSERT_TRUE(again.ok()) << again.error().message();
  EXPECT_EQ(again.value().reused_tokens, 0);
  EXPECT_EQ(again.value().ids.size(), 6u);
}

}  // namespace
}  // namespace manyspan
