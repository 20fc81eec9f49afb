#include "apps/status.h"

#include <fmt/core.h>
#include <utf8proc.h>

namespace manyspan::app {

Status status_of(const Error& error) {
  switch (error.fault()) {
    case Fault::invalid:
      return Status::misused;
    case Fault::exhausted:
    case Fault::device_lost:
      return Status::failed;
    case Fault::not_found:
    case Fault::corrupt:
    case Fault::unsupported:
      return Status::refused;
  }
  return Status::failed;
}

Error of_file(Error error) {
  if (error.fault() != Fault::invalid) return error;
  return Error(Fault::corrupt, error.message());
}

Error misuse(std::string message) { return Error(Fault::invalid, std::move(message)); }

Error closed_output() { return Error(Fault::exhausted, ""); }

std::string one_line(std::string_view text) {
  std::string shown;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const auto left = static_cast<utf8proc_ssize_t>(text.size() - at);
    const utf8proc_ssize_t length = utf8proc_iterate(bytes + at, left, &code);
    if (length <= 0) {
      shown += "\uFFFD";
      at += 1;
      continue;
    }
    const utf8proc_category_t category = utf8proc_category(code);
    if (code == '\n') {
      shown += shown.ends_with(':') || shown.ends_with(';') ? " " : "; ";
    } else if (category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
               category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP) {
      shown += fmt::format("\\u{:04x}", code);
    } else {
      shown += text.substr(at, length);
    }
    at += static_cast<std::size_t>(length);
  }
  return shown;
}

}  // namespace manyspan::app
