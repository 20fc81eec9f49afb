#include "kernels/simulated.h"

#include "base/check.h"
#include "device/sim_operation.h"
#include "kernels/every_address.h"

namespace manyspan::kernels {
namespace {

template <class P>
class Late final : public SimOperation {
 public:
  Late(const char* name, const Op<P>& inner, const P& params) : name_(name), inner_(inner), params_(params) {}

  const char* name() const override { return name_; }
  void touches(Touches& told) override {
    EveryAddress see(
        [&](Field f, auto*& p, const SimExtent& extent, bool writes) { told.touch(f, p, extent, writes); });
    params_.views(see);
  }
  // Its own parameters are rewritten: it runs once.
  void run(Translation& translation, Queue& host) override {
    EveryAddress see([&](Field f, auto*& p, const SimExtent& extent, bool) {
      p = static_cast<std::remove_reference_t<decltype(p)>>(translation.find(f, p, extent));
    });
    params_.views(see);
    if (!translation.failed()) inner_.enqueue(host, params_);
  }

 private:
  const char* name_;
  const Op<P>& inner_;
  P params_;
};

// The table that the queue's device runs.
const Table& inner_of(const SimQueue& queue) {
  CHECK(queue.table() != nullptr, "a device with a simulated table");
  return *static_cast<const Table*>(queue.table());
}

#define MANYSPAN_ROW(Params, row)                                            \
  void late_##row(Queue& queue, const Params& p) {                           \
    SimQueue& sim = sim_queue(queue);                                        \
    sim.enqueue(std::make_unique<Late<Params>>(#row, inner_of(sim).row, p)); \
  }
MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW

}  // namespace

Table simulated(const Table& inner, SimWorld& world, int device) {
  world.set_table(device, &inner);
  Table table = inner;
#define MANYSPAN_ROW(Params, row) table.row.enqueue = late_##row;
  MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW
  return table;
}

}  // namespace manyspan::kernels
