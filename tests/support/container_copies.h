// container_copies — one model's tensors in every container and under every spelling that are to give the same model.
#pragma once

#include <string>
#include <vector>

namespace manyspan::test {

struct ContainerCopy {
  std::string what;  // for messages
  std::string path;  // to open
};

// Copies of the model in `folder`, which is in the official layout, written below `into`. All of them say what it says to
// the last bit.
std::vector<ContainerCopy> safetensors_copies(const std::string& folder, const std::string& into);
std::vector<ContainerCopy> gguf_copies(const std::string& folder, const std::string& into);

// The same by conversions: to a GGUF, to a split set of three, and from both back.
std::vector<ContainerCopy> converted_copies(const std::string& folder, const std::string& into);

}  // namespace manyspan::test
