#include "base/crc32c.h"

#include <array>

namespace manyspan {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected
constexpr std::size_t kAtOnce = 8;

// table[i][b]: what byte b does to the sum when i more bytes follow it in the same step.
constexpr auto kTable = [] {
  std::array<std::array<std::uint32_t, 256>, kAtOnce> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kPolynomial : 0);
    table[0][byte] = sum;
  }
  for (std::size_t i = 1; i < kAtOnce; ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t sum = table[i - 1][byte];
      table[i][byte] = (sum >> 8) ^ table[0][sum & 255];
    }
  }
  return table;
}();

}  // namespace

std::uint32_t crc32c(Bytes bytes, std::uint32_t before) {
  std::uint32_t sum = ~before;
  for (; bytes.size() >= kAtOnce; bytes = bytes.subspan(kAtOnce)) {
    const std::uint64_t next = load_little_endian<std::uint64_t>(bytes.data()) ^ sum;
    sum = 0;
    for (std::size_t i = 0; i < kAtOnce; ++i) sum ^= kTable[kAtOnce - 1 - i][(next >> (8 * i)) & 255];
  }
  for (const std::byte b : bytes) sum = (sum >> 8) ^ kTable[0][(sum ^ static_cast<std::uint32_t>(b)) & 255];
  return ~sum;
}

}  // namespace manyspan
