// Sha256 — the SHA-256 of bytes that come a part at a time, as a file's contents do.
//
// Owns       its state
// Threads    one at a time
// Spec       FIPS 180-4; the library that computes it is OpenSSL's
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"

namespace manyspan {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void add(Bytes part);

  // 64 lower-case hexadecimal digits. Ends it: nothing may be added after.
  std::string hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace manyspan
