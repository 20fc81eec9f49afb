// unicode_table — where the class of characters changes, as generated data; read through unicode.h.
#pragma once

#include <array>
#include <cstdint>

namespace manyspan::text {

// Rising code points, each in the upper bits with the CharClass that starts there in the lowest three.
extern const std::array<std::uint32_t, 2324> kClassChanges;

}  // namespace manyspan::text
