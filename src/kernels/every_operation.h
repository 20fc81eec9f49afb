// every_operation — for tests that ask something of each operation: one small call of every row of a table.
//
// All that a call points to lies in one arena, so that its bytes can be moved, compared and put back, and its
// addresses found by looking for words that lie in it.
#pragma once

#include <cstring>
#include <limits>

#include "kernels/agreement.h"

namespace manyspan::kernels {

class Arena {
 public:
  static constexpr std::int64_t kBytes = 1 << 20;

  Arena() : chance_(7), words_(kBytes / 8, -1) {}

  template <class T>
  T* take(std::int64_t count) {
    T* at = reinterpret_cast<T*>(data() + used_);
    used_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    CHECK(used_ <= kBytes, "the arena is large enough");
    return at;
  }
  template <class T>
  T* keep(const std::vector<T>& v) {
    T* at = take<T>(static_cast<std::int64_t>(v.size()));
    std::memcpy(static_cast<void*>(at), v.data(), v.size() * sizeof(T));
    return at;
  }
  template <class T>
  Rows<T> room(std::int64_t rows, std::int64_t cols) {
    return {take<T>(rows * cols), rows, cols, cols};
  }
  Rows<Bf16> bf16(std::int64_t rows, std::int64_t cols) {
    return {keep(chance_.bf16(rows * cols)), rows, cols, cols};
  }
  Rows<float> f32(std::int64_t rows, std::int64_t cols) {
    return {keep(chance_.f32(rows * cols)), rows, cols, cols};
  }
  Weight weight(const Table& table, Encoding encoding, std::int32_t rows, std::int32_t cols,
                bool halves = false, std::int32_t count = 1) {
    const Matrix m = arranged_for(table, plain_matrix(chance_, encoding, rows, cols, count), halves, count);
    Weight w = m.w;
    w.codes = keep(m.codes);
    w.scales = m.scales.empty() ? nullptr : keep(m.scales);
    if (count == 1) w.next_codes = w.next_scales = 0;
    return w;
  }

  // Which words of a parameter struct point into the arena.
  template <class P>
  std::vector<std::size_t> addresses_in(const P& p) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i + sizeof(std::uintptr_t) <= sizeof(P); i += sizeof(std::uintptr_t)) {
      if (word(p, i) - reinterpret_cast<std::uintptr_t>(data()) <= kBytes) at.push_back(i);
    }
    return at;
  }
  // The same parameters with the arena at another address.
  template <class P>
  P moved(P p, const std::byte* to) {
    for (const std::size_t i : addresses_in(p)) {
      const std::uintptr_t w =
          word(p, i) - reinterpret_cast<std::uintptr_t>(data()) + reinterpret_cast<std::uintptr_t>(to);
      std::memcpy(reinterpret_cast<std::byte*>(&p) + i, &w, sizeof w);
    }
    return p;
  }

  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  std::vector<std::int64_t>& words() { return words_; }

 private:
  template <class P>
  static std::uintptr_t word(const P& p, std::size_t at) {
    std::uintptr_t w = 0;
    std::memcpy(&w, reinterpret_cast<const std::byte*>(&p) + at, sizeof w);
    return w;
  }

  Chance chance_;
  std::vector<std::int64_t> words_;
  std::int64_t used_ = 0;
};

// The numbers of a model that fits into a few kilobytes, and a batch: seven rows in two runs, three unused.
struct Setting {
  static constexpr std::int32_t kRows = 10, kHidden = 64, kStreams = 4, kHeads = 4, kHeadDim = 64,
                                kKeyDim = 32, kRatio = 2, kExperts = 8, kChosen = 2, kInner = 32,
                                kVocabulary = 50, kWidth = 2;

  explicit Setting(const Table& t) : table(t) {
    const TrialBatch of({{1, {9}, 0, 5}, {0, {4}, 0, 2}});
    const BatchView v = of.view();
    CHECK(v.rows == kRows, "the batch that this is made for");
    const auto kept = [&](const auto* p, std::int64_t n) { return arena.keep(std::vector(p, p + n)); };
    std::vector<Run> runs(v.runs, v.runs + *v.run_count);
    runs.resize(kRows);
    batch = {kRows,
             kept(v.used, 1),
             kept(std::vector<TokenId>(kRows, TokenId{3}).data(), kRows),
             kept(v.position, kRows),
             kept(v.slot, kRows),
             kept(v.marks, kRows),
             arena.keep(runs),
             kept(v.run_of, kRows),
             kept(v.run_count, 1)};
    rope = {arena.f32(1, 8).data, 16};
    const std::int64_t layer = WindowView::layer_bytes(kHeadDim);
    window = {arena.take<std::byte>(4 * layer), pages(), layer, 0, kHeadDim};
    std::memset(window.pool, 0x31, static_cast<std::size_t>(4 * layer));
    source = {nullptr, pages(), kRatio, kHeadDim, kKeyDim};
    source.pool = arena.take<std::byte>(4 * source.page_bytes());
    std::memset(source.pool, 0x31, static_cast<std::size_t>(4 * source.page_bytes()));
  }
  PageTable pages() { return {arena.keep(disordered_pages(2, kWidth)), kWidth}; }
  Selection selection() { return {arena.keep(ints(kRows * 3, 1)), arena.keep(ints(kRows, 2)), 3}; }
  Candidates candidates() { return {arena.keep(ints(kRows * 2, 0)), arena.keep(ints(kRows, 1)), 2, 4}; }
  static std::vector<std::int32_t> ints(std::int64_t n, std::int32_t value) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(n), value);
  }

  const Table& table;
  Arena arena;
  BatchView batch = {};
  Rope rope = {};
  WindowView window = {};
  SourceView source = {};
};

// One call of each operation, with every view given. A new row of the table needs one here.
void example(Setting& s, Embed& p);
void example(Setting& s, Turn& p);
void example(Setting& s, Mix& p);
void example(Setting& s, Linear& p);
void example(Setting& s, Remember& p);
void example(Setting& s, Select& p);
void example(Setting& s, Attend& p);
void example(Setting& s, Route& p);
void example(Setting& s, Experts& p);
void example(Setting& s, EngramRows& p);
void example(Setting& s, EngramGate& p);
void example(Setting& s, Append& p);
void example(Setting& s, Gather& p);
void example(Setting& s, Sample& p);

template <class P, class Body>
void one_operation(const char* name, Op<P> Table::*row, const Table& table, Body& body) {
  SCOPED_TRACE(name);
  Setting setting(table);
  P p = {};
  example(setting, p);
  if constexpr (requires { p.work; }) {
    const std::size_t bytes = (table.*row).workspace(p);
    p.work = {setting.arena.template take<std::byte>(static_cast<std::int64_t>(bytes)), bytes};
  }
  body(name, row, p, setting);
}

// body(name, row, params, setting) for every row of the table.
template <class Body>
void each_operation(const Table& table, Body&& body) {
#define MANYSPAN_ROW(Params, row) one_operation(#row, &Table::row, table, body);
  MANYSPAN_TABLE_ROWS(MANYSPAN_ROW)
#undef MANYSPAN_ROW
}

}  // namespace manyspan::kernels
