// round — onto the grids that the checkpoint was trained with, a row at a time.
//
// Functions of the reference, not rows of the table: the producers of a row round it in their epilogue.
// A row on the grid is a lossless bf16 carrier of codes and scales (interfaces.md A3).
//
// Shapes     x [n] bf16, n a multiple of the group (grid8, grid4_key: 32 · grid4_row: 16)
// Numerics   model.md 4.1 to 4.5, bit for bit; signs of zero kept
#pragma once

#include <cstdint>

#include "tensor/bf16.h"

namespace manyspan::kernels {

// act8 in place (spec 4.2): E4M3 codes with a power-of-two scale per 32.
void grid8_row(Bf16* x, std::int64_t n);

// The same, as the window stores it: codes [n], scales [n / 32] E8M0.
void grid8_encode(const Bf16* x, std::int64_t n, std::uint8_t* codes, std::uint8_t* scales);
void grid8_decode(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t n, Bf16* x);

// Compressed rows (spec 4.4): codes [n / 2], scales [n / 16] E4M3.
void grid4_row_encode(const Bf16* x, std::int64_t n, std::uint8_t* codes, std::uint8_t* scales);
void grid4_row_decode(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t n, Bf16* x);

// Index queries and keys (spec 4.3): codes [n / 2], scales [n / 32] E8M0.
void grid4_key_encode(const Bf16* x, std::int64_t n, std::uint8_t* codes, std::uint8_t* scales);
void grid4_key_decode(const std::uint8_t* codes, const std::uint8_t* scales, std::int64_t n, Bf16* x);
void grid4_key_row(Bf16* x, std::int64_t n);  // onto the grid and back, in place

}  // namespace manyspan::kernels
