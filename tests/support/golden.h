// Golden — what the oracle computed for one fixture: ids, logits and taps, by the names of its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "container/container.h"

namespace manyspan::test {

class Golden {
 public:
  // A fixture's folder with golden.json and golden.safetensors.
  explicit Golden(const std::string& folder);

  const std::vector<TokenId>& ids() const { return ids_; }
  std::int64_t prompt() const { return prompt_; }  // the first ids; the rest are fed one at a time

  const Container& tensors() const { return tensors_; }
  std::vector<float> floats(const std::string& name) const;  // f32 or bf16, widened

 private:
  std::vector<TokenId> ids_;
  std::int64_t prompt_ = 0;
  Container tensors_;
};

}  // namespace manyspan::test
