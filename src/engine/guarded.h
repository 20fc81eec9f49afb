// guarded — runs a door's work; what the standard library throws for want of memory becomes `exhausted`.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "base/result.h"

namespace manyspan {

// `body` returns a Result. Nothing else of ours throws; anything that a caller's own callback throws passes through.
template <class Body>
auto guarded(const char* doing, Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, std::string(doing) + ": no memory");
  } catch (const std::length_error&) {
    return Error(Fault::exhausted, std::string(doing) + ": more memory than can be asked for");
  }
}

}  // namespace manyspan
