#include "tests/support/golden.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tensor/bf16.h"

namespace manyspan::test {
namespace {

Container opened(const std::string& path) {
  auto container = open_container(path);
  if (!container.ok()) {
    std::fprintf(stderr, "%s\n", container.error().message().c_str());
    std::abort();
  }
  return std::move(container).value();
}

}  // namespace

Golden::Golden(const std::string& folder) : tensors_(opened(folder + "/golden.safetensors")) {
  const auto json = nlohmann::json::parse(std::ifstream(folder + "/golden.json"));
  for (const auto& id : json.at("ids")) ids_.push_back({id.get<std::int32_t>()});
  prompt_ = json.at("prompt_len").get<std::int64_t>();
}

std::vector<float> Golden::floats(const std::string& name) const {
  const StoredTensor* t = tensors_.find(name);
  if (t == nullptr) {
    std::fprintf(stderr, "golden.safetensors has no %s\n", name.c_str());
    std::abort();
  }
  const auto bytes = tensors_.bytes(*t);
  std::vector<float> out(t->elements());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (t->type == StoredType::bf16) {
      Bf16 narrow;
      std::memcpy(&narrow, bytes.data() + 2 * i, 2);
      out[i] = to_float(narrow);
    } else {
      std::memcpy(&out[i], bytes.data() + 4 * i, 4);
    }
  }
  return out;
}

}  // namespace manyspan::test
