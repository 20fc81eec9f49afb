#include "tests/fuzz/made_file.h"

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/check.h"

namespace manyspan::fuzz {

MadeFile::MadeFile() : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
  CHECK(descriptor_ >= 0, "no file in memory");
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

MadeFile::~MadeFile() { close(descriptor_); }

void MadeFile::hold(std::string_view bytes, std::uint32_t zeros) {
  CHECK(ftruncate(descriptor_, 0) == 0, "a file in memory gets shorter");
  const auto size = static_cast<off_t>(bytes.size());
  CHECK(pwrite(descriptor_, bytes.data(), bytes.size(), 0) == size, "a file in memory takes what is written");
  CHECK(ftruncate(descriptor_, size + zeros) == 0, "a file in memory gets longer");
}

void MadeFile::hold_front(std::string_view input) {
  std::uint32_t zeros = 0;
  const std::size_t head = std::min(input.size(), sizeof zeros);
  std::memcpy(&zeros, input.data(), head);
  hold(input.substr(head), zeros % (kMostZeros + 1));
}

}  // namespace manyspan::fuzz
