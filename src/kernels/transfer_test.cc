// Two simulated devices with a hand-over between them: what must happen when somebody forgets to wait.
#include "kernels/every_operation.h"
#include "kernels/simulated.h"

namespace manyspan::kernels {
namespace {

constexpr int kSteps = 3;
constexpr std::int32_t kHidden = 64, kStreams = 2, kRows = 4, kOut = 32;

// Every wait of the hand-over; any of them can be left out.
enum Wait { kForEmbedding, kForArrival, kForSending, kForReading, kWaits, kNone = -1 };

// Device 0 embeds, its copy queue hands the streams over, device 1 collapses and multiplies; for three steps
// with nothing in between but the events. A device's own memory is one buffer for each thing.
class TwoStages {
 public:
  explicit TwoStages(const SimOptions& options) : world(SimWorld::create(options).value()) {
    for (int d = 0; d < 2; ++d) tables.push_back(simulated(kReference, *world, d));
  }

  // The products of all steps, or the first fault.
  Result<std::vector<float>> run(int without) {
    Device &first = world->device(0), &second = world->device(1);
    const auto embeds = TRY(first.queue(QueueKind::main)), sends = TRY(first.queue(QueueKind::copy)),
               reads = TRY(second.queue(QueueKind::main));
    const auto embedded = TRY(first.event()), sent = TRY(first.event()), read = TRY(second.event());
    Chance chance(3);
    const std::vector<float> vocabulary = chance.f32(50 * kHidden), gain_f = chance.f32(kHidden, 1);
    const std::vector<float> matrix = chance.f32(kOut * kHidden);
    const std::vector<Bf16> gain = chance.bf16(kHidden, 1);
    const std::int32_t used = kRows;
    const Buffer table = TRY(up(*embeds, vocabulary.data(), vocabulary.size() * 4)),
                 count0 = TRY(up(*embeds, &used, 4)), count1 = TRY(up(*reads, &used, 4)),
                 weight = TRY(up(*reads, matrix.data(), matrix.size() * 4)),
                 norm = TRY(up(*reads, gain.data(), gain.size() * 2));
    TRY(embeds->finish());
    TRY(reads->finish());

    const std::int64_t streams_bytes = kRows * kStreams * kHidden * 2, pre_bytes = kRows * kStreams * 4;
    const Buffer ids = TRY(first.allocate(kRows * 4)), streams = TRY(first.allocate(streams_bytes)),
                 pre = TRY(first.allocate(pre_bytes)), landed = TRY(second.allocate(streams_bytes)),
                 landed_pre = TRY(second.allocate(pre_bytes)), x = TRY(second.allocate(kRows * kHidden * 2)),
                 y = TRY(second.allocate(kRows * kOut * 4));
    Embed embed = {};
    embed.table = {table.as<std::byte>(), nullptr, 50, kHidden, 0, 0, Encoding::f32};
    embed.batch.rows = kRows, embed.batch.used = count0.as<std::int32_t>();
    embed.batch.ids = ids.as<TokenId>(), embed.streams_count = kStreams;
    embed.streams = {streams.as<Bf16>(), kRows, kStreams * kHidden, kStreams * kHidden};
    embed.pre = {pre.as<float>(), kRows, kStreams, kStreams};
    Turn turn = {};
    turn.streams = {landed.as<Bf16>(), kRows, kStreams * kHidden, kStreams * kHidden};
    turn.streams_count = kStreams, turn.used = count1.as<std::int32_t>();
    turn.pre = {landed_pre.as<const float>(), kRows, kStreams, kStreams};
    turn.gain = norm.as<Bf16>(), turn.eps = 1e-6f, turn.x = {x.as<Bf16>(), kRows, kHidden, kHidden};
    Linear linear = {};
    linear.count = 1, linear.used = count1.as<std::int32_t>();
    linear.parts[0].x = as_const(turn.x);
    linear.parts[0].w = {weight.as<std::byte>(), nullptr, kOut, kHidden, 0, 0, Encoding::f32};
    linear.parts[0].y.f32 = {y.as<float>(), kRows, kOut, kOut};
    const std::size_t work_bytes = tables[1].linear.workspace(linear);
    const Buffer work = TRY(second.allocate(work_bytes));
    linear.work = {work.as<std::byte>(), work_bytes};

    const auto wait = [&](Queue& queue, Wait which, const Event& event) {
      if (which != without) queue.wait(event);
    };
    std::vector<TokenId> host_ids;
    for (int i = 0; i < kSteps * kRows; ++i) host_ids.push_back({chance.below(50)});
    std::vector<float> out(kSteps * kRows * kOut);
    for (int step = 0; step < kSteps; ++step) {
      embeds->copy(first, ids.as<void>(), host, host_ids.data() + step * kRows, kRows * 4);
      wait(*embeds, kForSending, *sent);
      tables[0].embed.enqueue(*embeds, embed);
      embeds->record(*embedded);
      wait(*sends, kForEmbedding, *embedded);
      wait(*sends, kForReading, *read);
      sends->copy(second, landed.as<void>(), first, streams.as<void>(), streams_bytes);
      sends->copy(second, landed_pre.as<void>(), first, pre.as<void>(), pre_bytes);
      sends->record(*sent);
      wait(*reads, kForArrival, *sent);
      tables[1].turn.enqueue(*reads, turn);
      reads->record(*read);
      tables[1].linear.enqueue(*reads, linear);
      reads->copy(host, out.data() + step * kRows * kOut, second, y.as<void>(), kRows * kOut * 4);
    }
    TRY(reads->finish());
    TRY(sends->finish());
    TRY(embeds->finish());
    return out;
  }

  std::unique_ptr<SimWorld> world;

 private:
  Result<Buffer> up(Queue& queue, const void* from, std::size_t bytes) {
    Buffer to = TRY(queue.device().allocate(bytes));
    queue.copy(queue.device(), to.as<void>(), host, from, bytes);
    return to;
  }

  HostDevice host{1};
  std::vector<Table> tables;
};

TEST(Transfer, WithEveryWaitAllOrdersGiveTheSameBits) {
  const std::vector<float> right = TwoStages({}).run(kNone).value();
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    const auto out = TwoStages({.seed = seed}).run(kNone);
    ASSERT_TRUE(out.ok()) << out.error().message();
    ASSERT_TRUE(same_bits(out.value(), right)) << "seed " << seed;
  }
}

TEST(Transfer, EachMissingWaitIsToldAtOnceByBothItsEnds) {
  const char* const races[] = {
      "sim 0 copy: copy.from races embed.streams of sim 0 main: no event orders them",
      "sim 1 main: turn.streams races copy.to of sim 0 copy: no event orders them",
      "sim 0 main: embed.streams races copy.from of sim 0 copy: no event orders them",
      "sim 0 copy: copy.to races turn.streams of sim 1 main: no event orders them",
  };
  for (int wait = 0; wait < kWaits; ++wait) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto out = TwoStages({.seed = seed}).run(wait);
      ASSERT_FALSE(out.ok()) << wait;
      EXPECT_EQ(out.error().fault(), Fault::device_lost);
      EXPECT_EQ(out.error().message(), races[wait]);
    }
  }
}

TEST(Transfer, EachMissingWaitGivesWrongBitsInSomeOrder) {
  const std::vector<float> right = TwoStages({}).run(kNone).value();
  for (int wait = 0; wait < kWaits; ++wait) {
    int wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const auto out = TwoStages({.seed = seed, .detect_races = false}).run(wait);
      ASSERT_TRUE(out.ok()) << out.error().message();
      wrong += !same_bits(out.value(), right);
    }
    RecordProperty("wrong_orders_" + std::to_string(wait), wrong);
    EXPECT_GT(wrong, 0) << "wait " << wait;
  }
}

TEST(Transfer, AnythingThatGoesWrongIsAnErrorAndLeavesNothingBehind) {
  for (std::int64_t k = 0; k < 12; ++k) {
    TwoStages t({});
    t.world->refuse_allocation(k);
    const auto out = t.run(kNone);
    ASSERT_FALSE(out.ok());
    EXPECT_EQ(out.error().fault(), Fault::exhausted);
    EXPECT_EQ(t.world->live_buffers(), 0);
  }
  for (const int device : {0, 1}) {
    for (std::int64_t k = 0; k < 3; ++k) {
      TwoStages t({});
      t.world->fail_operation(device, k);
      const auto out = t.run(kNone);
      ASSERT_FALSE(out.ok());
      EXPECT_EQ(out.error().fault(), Fault::device_lost);
      EXPECT_NE(out.error().message().find("sim " + std::to_string(device) + " main"), std::string::npos);
      EXPECT_TRUE(t.run(kNone).ok()) << "the devices work again";
    }
  }
}

}  // namespace
}  // namespace manyspan::kernels
