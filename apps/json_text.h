// json_text — a JSON document as one line of output; text that is not UTF-8 is shown with U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace manyspan::app {

inline std::string json_text(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace manyspan::app
