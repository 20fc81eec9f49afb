// trial — what a test needs to call an operation: a host queue, poisoned scratch, a batch, pages in disorder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "device/host_device.h"
#include "kernels/batch_view.h"
#include "kernels/pages.h"

namespace manyspan::kernels {

template <class T>
Rows<T> rows_of(std::vector<T>& v, std::int64_t cols) {
  return {v.data(), static_cast<std::int64_t>(v.size()) / cols, cols, cols};
}
template <class T>
Rows<const T> rows_of(const std::vector<T>& v, std::int64_t cols) {
  return {v.data(), static_cast<std::int64_t>(v.size()) / cols, cols, cols};
}

// Runs operations with exactly the scratch they ask for, full of NaN.
class Trial {
 public:
  explicit Trial(int threads = 2) : host_(threads), queue_(host_.queue(QueueKind::main).value()) {}

  template <class P>
  void run(const Op<P>& op, P p) {
    CHECK(op.refuses(p) == nullptr, "the trial's parameters are allowed");
    const Buffer scratch = host_.allocate(op.workspace(p)).value();
    if constexpr (requires { p.work; }) {
      std::memset(scratch.as<std::byte>(), 0xff, scratch.bytes());
      p.work = {scratch.as<std::byte>(), scratch.bytes()};
    }
    op.enqueue(*queue_, p);
  }
  Queue& queue() { return *queue_; }

 private:
  HostDevice host_;
  std::unique_ptr<Queue> queue_;
};

// A batch of runs with a few unused rows behind them.
class TrialBatch {
 public:
  static constexpr std::int32_t kUnused = 3;

  explicit TrialBatch(std::vector<Run> runs) : runs_(std::move(runs)) {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      runs_[r].row = used_;
      used_ += runs_[r].rows;
      for (std::int32_t i = 0; i < runs_[r].rows; ++i) {
        position_.push_back({runs_[r].first.value + i});
        slot_.push_back(runs_[r].slot);
        run_of_.push_back(static_cast<std::int32_t>(r));
      }
    }
    run_count_ = static_cast<std::int32_t>(runs_.size());
    const std::size_t rows = static_cast<std::size_t>(used_) + kUnused;
    position_.resize(rows, Position{-1});
    slot_.resize(rows, -1);
    run_of_.resize(rows, -1);
    marks_.resize(rows, 0xff);
    std::fill_n(marks_.begin(), used_, std::uint8_t{0});
    ids_.resize(rows, TokenId{-1});
    runs_.resize(rows, Run{-1, {-1}, -1, -1});
  }

  std::vector<TokenId>& ids() { return ids_; }
  std::vector<std::uint8_t>& marks() { return marks_; }
  std::int64_t used() const { return used_; }
  std::int64_t rows() const { return static_cast<std::int64_t>(ids_.size()); }

  BatchView view() const {
    return {static_cast<std::int32_t>(rows()),
            &used_,
            ids_.data(),
            position_.data(),
            slot_.data(),
            marks_.data(),
            runs_.data(),
            run_of_.data(),
            &run_count_};
  }

 private:
  std::vector<Run> runs_;
  std::int32_t used_ = 0, run_count_ = 0;
  std::vector<TokenId> ids_;
  std::vector<Position> position_;
  std::vector<std::int32_t> slot_, run_of_;
  std::vector<std::uint8_t> marks_;
};

// Page numbers 0.. dealt out to slots from the last to the first, so that neighbours in a table are not
// neighbours in memory.
inline std::vector<std::int32_t> disordered_pages(std::int32_t slots, std::int32_t width) {
  std::vector<std::int32_t> pages(static_cast<std::size_t>(slots) * width);
  std::iota(pages.rbegin(), pages.rend(), 0);
  return pages;
}

// Windows of `slots` sessions: the second of two layers in each page.
struct TrialWindow {
  TrialWindow(std::int32_t slots, std::int32_t width, std::int32_t head_dim)
      : pages(disordered_pages(slots, width)),
        bytes(pages.size() * 2 * WindowView::layer_bytes(head_dim), std::byte{0xff}) {
    const std::int64_t layer = WindowView::layer_bytes(head_dim);
    view = {bytes.data(), {pages.data(), width}, 2 * layer, layer, head_dim};
  }

  std::vector<std::int32_t> pages;
  std::vector<std::byte> bytes;
  WindowView view;
};

struct TrialSource {
  TrialSource(std::int32_t slots, std::int32_t width, std::int32_t ratio, std::int32_t head_dim,
              std::int32_t key_dim)
      : pages(disordered_pages(slots, width)) {
    view = {nullptr, {pages.data(), width}, ratio, head_dim, key_dim};
    bytes.assign(pages.size() * static_cast<std::size_t>(view.page_bytes()), std::byte{0xff});
    view.pool = bytes.data();
  }

  std::vector<std::int32_t> pages;
  std::vector<std::byte> bytes;
  SourceView view;
};

}  // namespace manyspan::kernels
