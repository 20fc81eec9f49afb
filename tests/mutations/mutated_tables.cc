#include "tests/mutations/mutated_tables.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace manyspan::test {
namespace {

kernels::Table inner_table;  // what the wrappers below call
std::set<std::int32_t> lost_layers;

std::int32_t layer_of(const kernels::WindowView& window) {
  return static_cast<std::int32_t>(window.layer_offset / kernels::WindowView::layer_bytes(window.head_dim));
}

kernels::Table copy_of(const kernels::Table& inner) {
  inner_table = inner;
  kernels::Table t = inner;
  t.name = "mutated";
  return t;
}

// A table of three slots, the last of which is as the one before. Operations on the host are done when
// enqueue returns.
class SharedTable {
 public:
  SharedTable(kernels::PageTable& table) {
    if (table.page == nullptr) return;
    rows_.assign(table.page, table.page + 2 * table.width);
    rows_.insert(rows_.end(), table.page + table.width, table.page + 2 * table.width);
    table.page = rows_.data();
  }

 private:
  std::vector<std::int32_t> rows_;
};

template <class P, auto op>
void with_window_shared(Queue& queue, const P& p) {
  P other = p;
  const SharedTable shared(other.window.table);
  (inner_table.*op).enqueue(queue, other);
}
template <class P, auto op>
void with_source_shared(Queue& queue, const P& p) {
  P other = p;
  const SharedTable shared(other.source.table);
  (inner_table.*op).enqueue(queue, other);
}

}  // namespace

kernels::Table engram_off(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.engram_gate.enqueue = [](Queue&, const kernels::EngramGate&) {};
  return t;
}

kernels::Table selection_lost(const kernels::Table& inner, std::set<std::int32_t> layers) {
  kernels::Table t = copy_of(inner);
  lost_layers = std::move(layers);
  t.attend.enqueue = [](Queue& queue, const kernels::Attend& p) {
    kernels::Attend blind = p;
    if (lost_layers.contains(layer_of(p.window))) blind.source.ratio = 0;
    inner_table.attend.enqueue(queue, blind);
  };
  return t;
}

kernels::Table compressed_rows_empty(const kernels::Table& inner, const Blueprint& blueprint) {
  std::set<std::int32_t> all;
  for (std::int32_t l = 0; l < blueprint.layers; ++l) all.insert(l);
  return selection_lost(inner, std::move(all));
}

kernels::Table pre_mix_reset(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.turn.enqueue = [](Queue& queue, const kernels::Turn& p) {
    kernels::Turn reset = p;
    std::vector<float> one_hot(p.pre.data == nullptr ? 0 : p.pre.rows * p.pre.cols, 0.0f);
    for (std::size_t i = 0; i < one_hot.size(); i += p.pre.cols) one_hot[i] = 1;
    if (p.pre.data != nullptr) reset.pre = {one_hot.data(), p.pre.rows, p.pre.cols, p.pre.cols};
    inner_table.turn.enqueue(queue, reset);
  };
  return t;
}

kernels::Table candidate_filter_off(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.select.enqueue = [](Queue& queue, const kernels::Select& p) {
    kernels::Select open = p;
    open.read.blocks = nullptr;
    inner_table.select.enqueue(queue, open);
  };
  return t;
}

kernels::Table comb_transposed(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.turn.enqueue = [](Queue& queue, const kernels::Turn& p) {
    kernels::Turn turned = p;
    const std::int64_t n = p.streams_count,
                       rows = p.comb.data == nullptr ? 0 : kernels::rows_used(p.comb.rows, p.used);
    std::vector<float> comb(p.comb.data == nullptr ? 0 : p.comb.rows * n * n);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) comb[(r * n + j) * n + i] = p.comb.row(r)[i * n + j];
      }
    }
    if (p.comb.data != nullptr) turned.comb = {comb.data(), p.comb.rows, n * n, n * n};
    inner_table.turn.enqueue(queue, turned);
  };
  return t;
}

kernels::Table query_normed_again(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.attend.enqueue = [](Queue& queue, const kernels::Attend& p) {
    kernels::Attend normed = p;
    const std::int64_t rows = kernels::rows_used(p.q.rows, p.batch.used), head = p.q.cols / p.heads;
    std::vector<Bf16> q(p.q.rows * p.q.cols);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t h = 0; h < p.heads; ++h) {
        double squares = 0;
        const Bf16* from = p.q.row(r) + h * head;
        for (std::int64_t i = 0; i < head; ++i) squares += double{to_float(from[i])} * to_float(from[i]);
        const auto scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(head) + 1e-20));
        for (std::int64_t i = 0; i < head; ++i)
          q[r * p.q.cols + h * head + i] = to_bf16(to_float(from[i]) * scale);
      }
    }
    normed.q = {q.data(), p.q.rows, p.q.cols, p.q.cols};
    inner_table.attend.enqueue(queue, normed);
  };
  return t;
}

kernels::Table append_off(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.append.enqueue = [](Queue&, const kernels::Append&) {};
  return t;
}

kernels::Table window_pages_shared(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.remember.enqueue = with_window_shared<kernels::Remember, &kernels::Table::remember>;
  t.attend.enqueue = with_window_shared<kernels::Attend, &kernels::Table::attend>;
  return t;
}

kernels::Table source_pages_shared(const kernels::Table& inner) {
  kernels::Table t = copy_of(inner);
  t.remember.enqueue = with_source_shared<kernels::Remember, &kernels::Table::remember>;
  t.attend.enqueue = with_source_shared<kernels::Attend, &kernels::Table::attend>;
  t.select.enqueue = with_source_shared<kernels::Select, &kernels::Table::select>;
  t.append.enqueue = with_source_shared<kernels::Append, &kernels::Table::append>;
  return t;
}

}  // namespace manyspan::test
