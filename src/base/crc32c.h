// crc32c — a checksum over bytes: CRC-32C (Castagnoli), as iSCSI and ext4 compute it.
//
// It finds damage, not intent: whoever changes a file on purpose changes the sum too.
//
// Threads    pure
// Cost       about a byte a cycle
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace manyspan {

// `before` is the sum of what precedes `bytes`: crc32c(b, crc32c(a)) is the sum of a and b, one after the
// other.
std::uint32_t crc32c(Bytes bytes, std::uint32_t before = 0);

}  // namespace manyspan
