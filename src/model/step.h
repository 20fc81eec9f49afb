// Step — how the model asks for work: a table, the queues, the scratch, and whoever traces.
//
// The same model code also runs while planning: then nothing is enqueued, and each operation is asked how
// much scratch it needs and whether it takes these shapes. So the sizes are those of the calls that will be
// made (but for a draft capture, which only a trace asks for and which needs none).
//
// Threads    the thread that owns the queues
// Spec       interfaces.md A1, A2, A10
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "device/device.h"
#include "kernels/table.h"
#include "model/tap_rooms.h"
#include "model/trace.h"

namespace manyspan {

class Step {
 public:
  // What planning learns.
  struct Needs {
    std::size_t main_work = 0, side_work = 0;
    std::string refused;  // empty, or the operation and its reason
  };

  // The main chain in order, and a side branch for what nobody waits for soon.
  struct Lanes {
    Queue& main;
    Queue& side;
    Event& forked;
    Event& joined;
    kernels::Work main_work, side_work;
  };

  // What a traced step needs besides: `home` is the host, where taps end.
  struct Tracing {
    Trace& trace;
    TapRooms& rooms;
    Device& home;
  };

  // `tracing` is null where nobody asks.
  Step(const kernels::Table& table, Lanes& lanes, const Tracing* tracing)
      : k(table), lanes_(&lanes), tracing_(tracing) {}
  Step(const kernels::Table& table, Needs& needs) : k(table), needs_(&needs) {}

  const kernels::Table& k;

  template <class P>
  void run(const kernels::Op<P>& op, const P& p) {
    if (needs_ != nullptr) return ask(op, p, needs_->main_work);
    enqueue(op, p, lanes_->main, lanes_->main_work);
  }

  // What runs beside from now on starts after what main has been given so far.
  void fork() {
    if (lanes_ == nullptr) return;
    lanes_->main.record(lanes_->forked);
    lanes_->side.wait(lanes_->forked);
  }
  // After what ran beside before; main waits for it at join().
  template <class P>
  void run_beside(const kernels::Op<P>& op, const P& p) {
    if (needs_ != nullptr) return ask(op, p, needs_->side_work);
    enqueue(op, p, lanes_->side, lanes_->side_work);
    lanes_->side.record(lanes_->joined);
  }
  void join() {
    if (lanes_ != nullptr) lanes_->main.wait(lanes_->joined);
  }

  // Copies rows of a dense view into a tap, if somebody wants it.
  template <class T>
  void tap(std::string_view name, LayerId layer, const Rows<T>& from, std::int64_t rows) {
    if (tracing_ == nullptr) return;
    const auto to = tracing_->trace.rows<std::remove_const_t<T>>(name, layer, rows, from.cols);
    if (to.data == nullptr) return;
    Device& place = lanes_->main.device();
    for (std::int64_t r = 0; r < rows; ++r) {
      lanes_->main.copy(tracing_->home, to.row(r), place, from.row(r), from.cols * sizeof(T));
    }
  }

  // Room for a tap that an operation fills itself; null data when nobody wants it.
  template <class T>
  Rows<T> tap_rows(std::string_view name, LayerId layer, std::int64_t rows, std::int64_t cols) {
    if (tracing_ == nullptr) return {nullptr, rows, cols, cols};
    return room_for(tracing_->trace.rows<T>(name, layer, rows, cols));
  }
  // The same for rows of the host that a trace has given out already.
  template <class T>
  Rows<T> room_for(const Rows<T>& home) {
    return tracing_ == nullptr ? Rows<T>{nullptr, home.rows, home.cols, home.cols}
                               : tracing_->rooms.room(lanes_->main, home);
  }
  // What operations have filled goes home.
  void bring_taps_home() {
    if (tracing_ != nullptr) tracing_->rooms.bring_home(lanes_->main);
  }

 private:
  template <class P>
  void ask(const kernels::Op<P>& op, const P& p, std::size_t& most) {
    most = std::max(most, op.workspace(p));
    if (const char* why = op.refuses(p); why != nullptr && needs_->refused.empty()) {
      needs_->refused = std::string(k.name) + ": " + why;
    }
  }
  template <class P>
  static void enqueue(const kernels::Op<P>& op, P p, Queue& queue, const kernels::Work& work) {
    if constexpr (requires { p.work; }) p.work = work;
    op.enqueue(queue, p);
  }

  Lanes* lanes_ = nullptr;
  Needs* needs_ = nullptr;
  const Tracing* tracing_ = nullptr;
};

}  // namespace manyspan
