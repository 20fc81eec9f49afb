// Four numbers that must not be swapped: TokenId, Position, LayerId, SessionId.
//
// Each is one integer wide and trivially copyable, so arrays of them go to devices as they are.
#pragma once

#include <compare>
#include <cstdint>

namespace manyspan {

template <class Tag, class Number>
struct Id {
  Number value;
  friend auto operator<=>(Id, Id) = default;
};

using TokenId = Id<struct TokenTag, std::int32_t>;
using Position = Id<struct PositionTag, std::int32_t>;  // 0-based in its session; -1 marks an unused row
using LayerId = Id<struct LayerTag, std::int32_t>;
using SessionId = Id<struct SessionTag, std::int64_t>;

}  // namespace manyspan
