// altered_scales — rewrites the scales of every FP8 32x32 matrix of a prepared model in memory, as a loader that reads the
// grid wrongly would.
#pragma once

#include <functional>
#include <vector>

#include "prepared/prepared.h"

namespace manyspan::test {

// Which entry of the flat grid [down · across] row r takes for 32-column group k.
using ScaleReading =
    std::function<std::int64_t(std::int64_t r, std::int64_t k, std::int64_t down, std::int64_t across)>;

std::int64_t read_rightly(std::int64_t r, std::int64_t k, std::int64_t down, std::int64_t across);
std::int64_t read_transposed(std::int64_t r, std::int64_t k, std::int64_t down, std::int64_t across);
std::int64_t read_row_wise(std::int64_t r, std::int64_t k, std::int64_t down, std::int64_t across);

// Every such matrix becomes one with a scale a row (mxfp8), read by `reading`. The returned bytes are what the weights
// then point to, and must live as long.
std::vector<std::vector<std::byte>> alter_fp8_scales(Prepared& prepared, const ScaleReading& reading);

}  // namespace manyspan::test
