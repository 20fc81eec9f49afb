// file_error — what the system says about a path, as an Error: "PATH: No such file or directory".
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "base/result.h"

namespace manyspan {

inline Fault fault_of(int system_error) {
  switch (system_error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Fault::exhausted;
    case EIO:
      return Fault::corrupt;
    default:
      return Fault::not_found;
  }
}

// `doing` is what failed, such as "cannot map"; empty where the system's words are enough.
inline Error file_error(const std::string& path, const std::string& doing, int system_error) {
  const std::string reason = std::generic_category().message(system_error);
  return Error(fault_of(system_error), path + ": " + (doing.empty() ? reason : doing + ": " + reason));
}

}  // namespace manyspan
