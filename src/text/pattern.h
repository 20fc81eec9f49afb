// pattern — finds one marker in a stream, a byte at a time, without ever looking back (Knuth, Morris, Pratt).
//
// A symbol is a byte, plus kFromControl where the byte must stem from a control token and not from text
// that merely spells it.
//
// Cost       step() is constant on average; memory is linear in the marker
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace manyspan::text {

inline constexpr std::uint16_t kFromControl = 0x100;

class Pattern {
 public:
  void append(std::string_view text, std::uint16_t mark = 0) {
    for (const char c : text) append(static_cast<std::uint16_t>(static_cast<unsigned char>(c) | mark));
  }

  std::size_t size() const { return symbols_.size(); }

  // How many symbols are matched once `symbol` follows the `matched` ones; size() means found.
  std::size_t step(std::size_t matched, std::uint16_t symbol) const {
    if (matched == symbols_.size()) matched = matched == 0 ? 0 : border_[matched - 1];
    while (matched > 0 && symbols_[matched] != symbol) matched = border_[matched - 1];
    return !symbols_.empty() && symbols_[matched] == symbol ? matched + 1 : 0;
  }

 private:
  void append(std::uint16_t symbol) {
    symbols_.push_back(symbol);
    if (symbols_.size() == 1) {
      border_.push_back(0);
      return;
    }
    std::size_t at = border_.back();
    while (at > 0 && symbols_[at] != symbol) at = border_[at - 1];
    border_.push_back(symbols_[at] == symbol ? at + 1 : 0);
  }

  std::vector<std::uint16_t> symbols_;
  std::vector<std::size_t> border_;  // longest proper prefix of the first i + 1 symbols that also ends them
};

}  // namespace manyspan::text
