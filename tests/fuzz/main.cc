// One target as a libFuzzer program; MANYSPAN_FUZZ_TARGET is its function.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const manyspan::fuzz::Outcome outcome =
      manyspan::fuzz::MANYSPAN_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  if (outcome.broken.empty()) return 0;
  std::fprintf(stderr, "does not hold: %s\n", outcome.broken.c_str());
  std::abort();
}
