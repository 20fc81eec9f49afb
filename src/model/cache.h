// Cache — what attention remembers of all sessions on one device: pools of pages, page tables, tails.
//
// A device has window pools of its own layers, and rows of every source that they make or read: its own rows, or
// copies of those that another device makes. A page has the same number everywhere.
//
// Window pages hold every layer's keys of 32 positions; source pages hold 64 rows of one source, and sources
// of the same ratio share page ids and a table, since their rows cover the same tokens. Whose page is whose
// is decided above (session/pages.h); here are only the bytes and the views that kernels read.
//
// Owns       the pools, tails and device tables
// Threads    the thread that runs the device's steps
// Spec       model.md 7; interfaces.md A7
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "kernels/pages.h"
#include "model/limits.h"
#include "prepared/placement.h"
#include "spec/blueprint.h"

namespace manyspan {

// How many pages there are of each kind, and how wide the tables are. A pure function of blueprint and
// limits.
struct PageGeometry {
  struct Kind {
    std::int32_t ratio;  // tokens a row; 0: the window
    std::int32_t pages;  // in the pool
    std::int32_t width;  // of the table
    std::int32_t tokens_per_page;
  };
  std::vector<Kind> kinds;     // the window first, then each distinct ratio, ascending
  std::int64_t window_tokens;  // whose window keys a session keeps between steps, at least

  static PageGeometry of(const Blueprint& blueprint, const Limits& limits);
  std::size_t kind_of(std::int32_t ratio) const;
};

// A KV source's place among the sources.
std::size_t source_index(const Blueprint& blueprint, LayerId source);

// How a KV source's pages are laid out, without any.
kernels::SourceView source_shape(const Blueprint& blueprint, LayerId source);

// A piece of state, named by what it holds and not by where it lies: so it is the same in every placement.
struct StatePart {
  enum class Of : std::uint8_t { window, source, tail };
  Of of;
  LayerId layer;    // whose window; or the KV source
  std::int32_t at;  // the page; of a tail, the slot
};

class Cache {
 public:
  // `table_sets`: how many steps have page tables of their own here.
  // Errors: exhausted
  static Result<std::unique_ptr<Cache>> create(Device& device, const Blueprint& blueprint,
                                               const StageLayers& layers, const Limits& limits,
                                               std::int32_t table_sets = 1);
  static std::int64_t table_bytes(const PageGeometry& geometry, const Limits& limits,
                                  std::int32_t table_sets);

  const PageGeometry& geometry() const { return geometry_; }
  std::int64_t bytes() const { return bytes_; }

  // The set that uploads go to, and in which views look up their pages.
  void choose_tables(std::int32_t set) { set_ = set; }

  // Enqueues a slot's row of a kind's table, where some layer here looks into it. `pages` has the kind's width and must
  // live until the step has finished.
  void upload(Queue& queue, Device& host, std::size_t kind, std::int32_t slot,
              std::span<const std::int32_t> pages);

  // Enqueues the copy of a page of a kind, in every pool here that has the kind.
  void copy_page(Queue& queue, std::size_t kind, std::int32_t from, std::int32_t to) const;
  // Enqueues the copy of a slot's tails, of all sources here.
  void copy_tails(Queue& queue, std::int32_t from_slot, std::int32_t to_slot) const;
  // Where a part lies: an address of the device. Empty where it has no bytes (a tail of ratio 1) or is elsewhere.
  std::span<std::byte> part(const StatePart& part) const;

  kernels::WindowView window(LayerId layer) const;
  // Of a KV source; no pool where nobody here reads it.
  kernels::SourceView source(LayerId source) const;
  kernels::TailView tail(LayerId source) const;

 private:
  Cache(Device& device, const Blueprint& blueprint, const StageLayers& layers, const Limits& limits,
        std::int32_t table_sets);
  Result<void> allocate();
  std::int64_t window_page_bytes() const;
  std::int64_t tail_bytes() const;  // of one slot
  bool reads(std::size_t kind) const;
  std::int32_t* table(std::size_t kind) const {
    return tables_[kind].as<std::int32_t>() +
           std::int64_t{set_} * geometry_.kinds[kind].width * limits_.sessions;
  }

  Device& device_;
  const Blueprint& blueprint_;
  StageLayers layers_;
  Limits limits_;
  PageGeometry geometry_;
  std::int32_t table_sets_, set_ = 0;
  std::int64_t bytes_ = 0;
  std::vector<Buffer> tables_;  // one for each kind, set after set
  Buffer window_pool_;
  // One for each KV source, in the blueprint's order; empty where nobody here reads it.
  std::vector<Buffer> source_pools_;
  // Likewise; empty where the ratio is 1, or the source is elsewhere.
  std::vector<Buffer> tails_;
};

}  // namespace manyspan
