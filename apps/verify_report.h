// VerifyReport — what `verify` has to say of a model, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/checked_model.h"
#include "verify/read_through.h"

namespace manyspan::app {

struct VerifyReport {
  std::string path, what;
  std::vector<Finding> findings;  // structure first, then by file and place
  std::vector<std::string> notes, off;
  std::size_t tensors = 0, files = 0;
  std::uint64_t tensor_bytes = 0;
  double sample = 1;
  ReadThrough read;
  std::string manifest{};  // that was checked; empty: none
  std::size_t manifest_files = 0, manifest_equal = 0;
  std::string written{};  // that was written; empty: none
};

// At most `most` findings are told one by one; all are counted.
std::string as_text(const VerifyReport& report, std::size_t most);
nlohmann::ordered_json as_json(const VerifyReport& report, std::size_t most);

// "FILE: ...; 12 such numbers in it"
std::string finding_text(const Finding& finding);

}  // namespace manyspan::app
