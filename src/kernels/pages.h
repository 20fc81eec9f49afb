// pages — how kernels find a session's state: by position, through a page table, in pools of equal pages.
//
// A page id is global to the engine; each pool holds page p at p · page_bytes. Tables are [slots][width]; the
// page of row or position i of a slot is table[slot][(i / rows per page) % width], so that a window keeps its
// last pages and forgets by leaving the others to somebody else.
//
// Numerics   rows lie in the official grids: window rows E4M3 with an E8M0 scale per 32 columns (spec 4.2),
//            compressed rows E2M1 with an E4M3 scale per 16 (4.4), index keys E2M1 with E8M0 per 32 (4.3)
// Spec       interfaces.md A7; model.md 4 and 7
#pragma once

#include <cstdint>

#include "kernels/op.h"

namespace manyspan::kernels {

inline constexpr std::int32_t kWindowPageRows = 32;
inline constexpr std::int32_t kSourcePageRows = 64;
inline constexpr std::int32_t kTailTokens =
    16;  // positions that a partial group may look back: at least the largest ratio

constexpr std::int64_t padded16(std::int64_t bytes) { return (bytes + 15) / 16 * 16; }

struct PageTable {
  const std::int32_t* page;  // [slots][width]; -1: none
  std::int32_t width;

  std::int64_t at(std::int64_t slot, std::int64_t index, std::int64_t rows_per_page) const {
    return page[slot * width + index / rows_per_page % width];
  }
};

// Window keys (which are the values too) of one layer. A page: codes [32][head_dim] | scales
// [32][head_dim/32].
struct WindowView {
  std::byte* pool;
  PageTable table;
  std::int64_t page_bytes;    // of all layers together
  std::int64_t layer_offset;  // of this layer in a page
  std::int32_t head_dim;

  static constexpr std::int64_t layer_bytes(std::int64_t head_dim) {
    return padded16(kWindowPageRows * head_dim) + padded16(kWindowPageRows * (head_dim / 32));
  }
  std::byte* page(std::int64_t slot, std::int64_t position) const {
    return pool + table.at(slot, position, kWindowPageRows) * page_bytes + layer_offset;
  }
  std::byte* codes(std::int64_t slot, std::int64_t position) const {
    return codes_in(page(slot, position), position);
  }
  std::byte* scales(std::int64_t slot, std::int64_t position) const {
    return scales_in(page(slot, position), position);
  }

  // The same, for who knows the position's page already.
  std::byte* codes_in(std::byte* page, std::int64_t position) const {
    return page + position % kWindowPageRows * head_dim;
  }
  std::byte* scales_in(std::byte* page, std::int64_t position) const {
    return page + padded16(kWindowPageRows * head_dim) + position % kWindowPageRows * (head_dim / 32);
  }
};

// Compressed rows and index keys of one KV source.
// A page: codes [64][head_dim/2] | scales [64][head_dim/16] | key codes [64][key_dim/2] | key scales
// [64][key_dim/32].
struct SourceView {
  std::byte* pool;
  PageTable table;
  std::int32_t ratio;  // tokens a row; 0: the layer has no source
  std::int32_t head_dim, key_dim;

  constexpr std::int64_t scales_at() const { return padded16(kSourcePageRows * (head_dim / 2)); }
  constexpr std::int64_t keys_at() const { return scales_at() + padded16(kSourcePageRows * (head_dim / 16)); }
  constexpr std::int64_t key_scales_at() const {
    return keys_at() + padded16(kSourcePageRows * (key_dim / 2));
  }
  constexpr std::int64_t page_bytes() const {
    return key_scales_at() + padded16(kSourcePageRows * (key_dim / 32));
  }

  // One row as it travels between devices: codes | scales | key codes | key scales.
  constexpr std::int64_t row_bytes() const {
    return head_dim / 2 + head_dim / 16 + key_dim / 2 + key_dim / 32;
  }

  std::byte* page(std::int64_t slot, std::int64_t row) const {
    return pool + table.at(slot, row, kSourcePageRows) * page_bytes();
  }
  std::byte* codes(std::int64_t slot, std::int64_t row) const { return codes_in(page(slot, row), row); }
  std::byte* scales(std::int64_t slot, std::int64_t row) const { return scales_in(page(slot, row), row); }
  std::byte* key_codes(std::int64_t slot, std::int64_t row) const {
    return key_codes_in(page(slot, row), row);
  }
  std::byte* key_scales(std::int64_t slot, std::int64_t row) const {
    return key_scales_in(page(slot, row), row);
  }

  // The same, for who knows the row's page already.
  std::byte* codes_in(std::byte* page, std::int64_t row) const {
    return page + row % kSourcePageRows * (head_dim / 2);
  }
  std::byte* scales_in(std::byte* page, std::int64_t row) const {
    return page + scales_at() + row % kSourcePageRows * (head_dim / 16);
  }
  std::byte* key_codes_in(std::byte* page, std::int64_t row) const {
    return page + keys_at() + row % kSourcePageRows * (key_dim / 2);
  }
  std::byte* key_scales_in(std::byte* page, std::int64_t row) const {
    return page + key_scales_at() + row % kSourcePageRows * (key_dim / 32);
  }
};

// The compressor's inputs of the last 16 positions, so that a group may straddle a chunk boundary.
struct TailView {
  float* a_g;  // [slots][16][2][head_dim]: wkv·x and wgate·x of position p at p mod 16; null where ratio < 2

  float* at(std::int64_t slot, std::int64_t position, std::int64_t head_dim) const {
    return a_g + ((slot * kTailTokens) + position % kTailTokens) * 2 * head_dim;
  }
};

// Which rows each query attends to, and among which blocks later layers may choose.
struct Selection {
  std::int32_t* rows;   // [T, width] LOGICAL row numbers of the source, ascending
  std::int32_t* count;  // [T]
  std::int32_t width;   // the model's index_topk
};
struct Candidates {
  std::int32_t* blocks;     // [T, width] ascending; null: not written, or not restricted
  std::int32_t* count;      // [T]
  std::int32_t width;       // candidate_topk_blocks
  std::int32_t block_rows;  // candidate_block_size
};

}  // namespace manyspan::kernels
