// sparse — checkpoints of tools/make_sparse_checkpoint.py, in folders of their own.
#pragma once

#include <cstdint>
#include <string>

#include "base/temporary_folder.h"

namespace manyspan::tests {

struct Sparse {
  explicit Sparse(const std::string& options);  // of the tool

  TemporaryFolder folder;
  std::string path;  // of the checkpoint, in the folder
  std::int64_t bytes, engram_bytes, loaded_bytes, largest_layer_bytes;

  // "model-00003-of-00007.safetensors": the embedding, a shard a layer, the head, the Engram table.
  std::string shard(int number) const;
  std::string shard_path(int number) const { return path + "/" + shard(number); }
};

inline constexpr int kHeadShard = 6, kEngramShard = 7, kShards = 7;

// About 0.25 GB to load, beside an Engram table of 14 GB that takes neither disk nor memory.
Sparse narrow_checkpoint();
// 20 GB of the released widths; 5.7 of them are loaded.
Sparse wide_checkpoint();

}  // namespace manyspan::tests
