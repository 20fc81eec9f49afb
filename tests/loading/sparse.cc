#include "tests/loading/sparse.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace manyspan::tests {

Sparse::Sparse(const std::string& options) : path(folder / "checkpoint") {
  const std::string command =
      "python3 '" MANYSPAN_SOURCE_DIR "/tools/make_sparse_checkpoint.py' '" + path + "' " + options;
  std::FILE* const tool = popen(command.c_str(), "r");
  CHECK(tool != nullptr, "no shell");
  char line[512] = {};
  const bool told = std::fgets(line, sizeof line, tool) != nullptr;
  CHECK(pclose(tool) == 0 && told, "the tool made no checkpoint");
  const auto sizes = nlohmann::json::parse(line);
  bytes = sizes.at("bytes");
  engram_bytes = sizes.at("engram_bytes");
  loaded_bytes = sizes.at("loaded_bytes");
  largest_layer_bytes = sizes.at("largest_layer_bytes");
  // A program that runs as somebody else may come in.
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
}

std::string Sparse::shard(int number) const {
  return "model-0000" + std::to_string(number) + "-of-0000" + std::to_string(kShards) + ".safetensors";
}

Sparse narrow_checkpoint() { return Sparse("--hidden 1024 --heads 16 --experts 4 --vocabulary 1024"); }
Sparse wide_checkpoint() { return Sparse(""); }

}  // namespace manyspan::tests
