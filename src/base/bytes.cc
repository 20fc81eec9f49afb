#include "base/bytes.h"

#include <string>

namespace manyspan {

Result<Bytes> ByteCursor::take(std::uint64_t count) {
  if (count > left()) {
    return Error(Fault::corrupt, std::to_string(count) + " bytes wanted at byte " +
                                     std::to_string(position_) + ", where " + std::to_string(left()) +
                                     " are left");
  }
  const Bytes taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
  position_ += taken.size();
  return taken;
}

}  // namespace manyspan
