#include "pipeline/transfer.h"

#include "base/check.h"

namespace manyspan {
namespace {

Carry lay_out(const Blueprint& b, const Crossing& crossing, const Limits& limits, Carver& carver) {
  const Carry::Parts parts{crossing.selection, crossing.candidates, crossing.published};
  return Carry::lay_out(b, parts, limits.step_rows, carver);
}

// Whether a scratch's carry has whatever a box has.
bool covers(const Carry& scratch, const Carry& box) {
  bool all = true;
  for (std::size_t i = 0; i < box.published.size(); ++i) {
    all = all && (box.published[i].data == nullptr || scratch.published[i].data != nullptr);
  }
  return all;
}

}  // namespace

std::size_t Transfer::box_bytes(const Blueprint& blueprint, const Crossing& crossing, const Limits& limits) {
  Carver counter(nullptr);
  lay_out(blueprint, crossing, limits, counter);
  return counter.used();
}

Result<Transfer::Box> Transfer::box(Device& device, const Blueprint& blueprint, const Crossing& crossing,
                                    const Limits& limits) {
  Box box;
  box.memory = TRY(device.allocate(box_bytes(blueprint, crossing, limits)));
  Carver carver(box.memory.as<std::byte>());
  box.carry = lay_out(blueprint, crossing, limits, carver);
  box.filled = TRY(device.event());
  box.emptied = TRY(device.event());
  return box;
}

Result<std::unique_ptr<Transfer>> Transfer::create(Device& from, Device& to, const Blueprint& blueprint,
                                                   const Crossing& crossing, const Limits& limits,
                                                   std::int32_t landings) {
  std::unique_ptr<Transfer> transfer(new Transfer(from, to));
  transfer->copies_ = TRY(from.queue(QueueKind::copy));
  transfer->outbox_ = TRY(transfer->box(from, blueprint, crossing, limits));
  for (std::int32_t i = 0; i < landings; ++i) {
    transfer->landings_.push_back(TRY(transfer->box(to, blueprint, crossing, limits)));
  }
  return transfer;
}

// Of what both sides have.
void Transfer::copy(Queue& queue, Device& to_place, const Carry& to, Device& from_place, const Carry& from,
                    std::int64_t rows, Depth depth) const {
  const auto copy = [&](void* to_data, const void* from_data, std::int64_t bytes) {
    if (to_data != nullptr && from_data != nullptr)
      queue.copy(to_place, to_data, from_place, from_data, bytes);
  };
  for (std::size_t i = 0; i < to.published.size(); ++i) {
    copy(to.published[i].data, from.published[i].data, rows * to.published[i].cols);
  }
  if (depth == Depth::rows) return;
  constexpr std::int64_t kNumber = sizeof(std::int32_t);
  copy(to.streams.data, from.streams.data, rows * to.streams.cols * std::int64_t{sizeof(Bf16)});
  copy(to.pre.data, from.pre.data, rows * to.pre.cols * std::int64_t{sizeof(float)});
  copy(to.selection.rows, from.selection.rows, rows * to.selection.width * kNumber);
  copy(to.selection.count, from.selection.count, rows * kNumber);
  copy(to.candidates.blocks, from.candidates.blocks, rows * to.candidates.width * kNumber);
  copy(to.candidates.count, from.candidates.count, rows * kNumber);
}

void Transfer::send(Queue& sender, const Carry& from, std::int64_t rows, Depth depth) {
  CHECK(covers(from, outbox_.carry), "the sender has all that crosses");
  Box& landing = landings_[sent_++ % landings_.size()];
  sender.wait(*outbox_.emptied);
  copy(sender, from_, outbox_.carry, from_, from, rows, depth);
  sender.record(*outbox_.filled);

  copies_->wait(*outbox_.filled);
  copies_->wait(*landing.emptied);
  copy(*copies_, to_, landing.carry, from_, outbox_.carry, rows, depth);
  copies_->record(*outbox_.emptied);
  copies_->record(*landing.filled);
}

void Transfer::land(Queue& receiver, const Carry& to, std::int64_t rows, Depth depth) {
  CHECK(landed_ < sent_ && covers(to, outbox_.carry),
        "sent before it lands, where all that crosses has room");
  Box& landing = landings_[landed_++ % landings_.size()];
  receiver.wait(*landing.filled);
  copy(receiver, to_, to, to_, landing.carry, rows, depth);
  receiver.record(*landing.emptied);
}

}  // namespace manyspan
