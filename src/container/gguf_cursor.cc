#include "container/gguf_cursor.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/utf8.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kBufferBytes = std::uint64_t{64} << 10;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

}  // namespace

Result<void> GgufCursor::read(std::span<std::byte> out, std::string_view what) {
  if (out.size() > left()) {
    return corrupt("the header ends inside " + std::string(what) + ": " + std::to_string(out.size()) +
                   " bytes wanted at byte " + std::to_string(position_) + ", where " +
                   std::to_string(left()) + " are left");
  }
  while (!out.empty()) {
    const std::uint64_t at = position_ - first_;
    if (at >= front_.size()) {
      CHECK(file_ != nullptr, "a header in memory is longer than it says");
      buffer_.resize(static_cast<std::size_t>(std::min(kBufferBytes, left())));
      TRY(file_->read_at(position_, buffer_));
      front_ = buffer_;
      first_ = position_;
      continue;
    }
    const std::size_t count = std::min<std::size_t>(out.size(), front_.size() - at);
    std::memcpy(out.data(), front_.data() + at, count);
    out = out.subspan(count);
    position_ += count;
  }
  return {};
}

Result<std::string> GgufCursor::text(std::uint64_t most, std::string_view what) {
  const auto length = TRY(number<std::uint64_t>(what));
  if (length > left()) {
    return corrupt(std::string(what) + " has a length of " + std::to_string(length) + " bytes, but only " +
                   std::to_string(left()) + " are left in the file");
  }
  if (length > most) {
    return corrupt(std::string(what) + " has a length of " + std::to_string(length) + " bytes, at most " +
                   std::to_string(most) + " are allowed");
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  TRY(read(std::as_writable_bytes(std::span(text.data(), text.size())), what));
  if (!is_valid_utf8(text)) return corrupt(std::string(what) + " is not UTF-8");
  return text;
}

}  // namespace manyspan
