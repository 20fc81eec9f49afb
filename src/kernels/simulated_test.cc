#include "kernels/simulated.h"

#include "kernels/every_operation.h"

namespace manyspan::kernels {
namespace {

// A call of each operation, once on the host and once on a device to which its arena was copied.
TEST(Simulated, EveryOperationWritesTheBytesThatTheInnerTablesDoes) {
  const auto agree = [](const Table& inner) {
    const auto world = SimWorld::create({.devices = 1}).value();
    const Table table = simulated(inner, *world, 0);
    Device& device = world->device(0);
    HostDevice host(1);
    const auto here = host.queue(QueueKind::main).value(), there = device.queue(QueueKind::main).value();
    each_operation(inner, [&](const char*, auto row, auto& p, Setting& s) {
      const Buffer memory = device.allocate(Arena::kBytes).value();
      const auto far = s.arena.moved(p, memory.as<std::byte>());
      EXPECT_EQ((table.*row).refuses(far), nullptr);
      EXPECT_EQ((table.*row).workspace(far), (inner.*row).workspace(p));
      there->copy(device, memory.as<void>(), host, s.arena.data(), Arena::kBytes);
      (table.*row).enqueue(*there, far);
      std::vector<std::int64_t> after(s.arena.words().size());
      there->copy(host, after.data(), device, memory.as<void>(), Arena::kBytes);
      const Result<void> done = there->finish();
      ASSERT_TRUE(done.ok()) << done.error().message();

      const std::vector<std::int64_t> before = s.arena.words();
      (inner.*row).enqueue(*here, p);
      if constexpr (requires { p.work; }) {  // an operation's own affair: it may hold addresses
        const std::int64_t at = p.work.data - s.arena.data();
        std::memset(p.work.data, 0xff, p.work.bytes);
        std::memset(reinterpret_cast<std::byte*>(after.data()) + at, 0xff, p.work.bytes);
      }
      EXPECT_TRUE(before != s.arena.words()) << "it does something";
      EXPECT_TRUE(after == s.arena.words());
    });
  };
  agree(kReference);
  each_table(agree);
}

TEST(Simulated, ParametersAreTakenByValue) {
  const auto world = SimWorld::create({.devices = 1}).value();
  const Table table = simulated(kReference, *world, 0);
  Device& device = world->device(0);
  HostDevice host(1);
  const auto queue = device.queue(QueueKind::main).value();
  Setting s(kReference);
  Gather p = {};
  example(s, p);
  const Buffer memory = device.allocate(Arena::kBytes).value();
  queue->copy(device, memory.as<void>(), host, s.arena.data(), Arena::kBytes);
  {
    Gather gone = s.arena.moved(p, memory.as<std::byte>());
    table.gather.enqueue(*queue, gone);
    gone = {};
  }
  EXPECT_TRUE(queue->finish().ok());
}

TEST(Simulated, AMissingTransferIsNamedByOperationAndField) {
  const auto world = SimWorld::create({.devices = 2}).value();
  const Table table = simulated(kReference, *world, 1);
  const auto queue = world->device(1).queue(QueueKind::side).value();
  Setting s(kReference);
  Linear p = {};
  example(s, p);
  const Buffer there = world->device(1).allocate(Arena::kBytes).value();
  const Buffer elsewhere = world->device(0).allocate(Arena::kBytes).value();
  const Linear far = s.arena.moved(p, there.as<std::byte>());
  const auto fault_of = [&](const Linear& wrong) {
    table.linear.enqueue(*queue, wrong);
    const Result<void> done = queue->finish();
    return done.ok() ? std::string("no fault") : done.error().message();
  };
  Linear wrong = far;
  wrong.parts[3].x.data = elsewhere.as<Bf16>();
  EXPECT_EQ(fault_of(wrong), "sim 1 side: linear.parts[3].x is an address of sim 0");
  wrong = far;
  wrong.norm = p.norm;
  EXPECT_EQ(fault_of(wrong), "sim 1 side: linear.norm is an address of the host, or of nobody");
  wrong = far;
  wrong.parts[1].y.f32.rows = 1 << 20;
  EXPECT_NE(fault_of(wrong).find("linear.parts[1].y wants"), std::string::npos);
}

TEST(Simulated, EachDeviceHasItsOwnInnerTable) {
  const auto world = SimWorld::create({.devices = 2}).value();
  Table marked = kReference;
  marked.gather.enqueue = [](Queue&, const Gather& g) { g.out_pre.data[0] = 77; };
  simulated(kReference, *world, 0);
  const Table table = simulated(marked, *world, 1);
  HostDevice host(1);
  for (int d = 0; d < 2; ++d) {
    Device& device = world->device(d);
    const auto queue = device.queue(QueueKind::main).value();
    Setting s(kReference);
    Gather p = {};
    example(s, p);
    const Buffer memory = device.allocate(Arena::kBytes).value();
    const Gather far = s.arena.moved(p, memory.as<std::byte>());
    queue->copy(device, memory.as<void>(), host, s.arena.data(), Arena::kBytes);
    table.gather.enqueue(*queue, far);
    float first = 0;
    queue->copy(host, &first, device, far.out_pre.data, sizeof first);
    ASSERT_TRUE(queue->finish().ok());
    EXPECT_EQ(first == 77, d == 1);
  }
}

}  // namespace
}  // namespace manyspan::kernels
