// convert — a model written again in the other container, or in the same one: file by file, in bounded memory.
//
// The container is chosen by the name of the result: `NAME.gguf`, else a folder of safetensors. Without `quantize` no
// number is rounded: each tensor takes the type that holds all of its numbers, its own where the container has that. What
// is left out (draft and vision models) and what changed its type is in the report.
//
// The result is written beside its place, in `OUT.partial`, and put there whole at the end. What an earlier call left in
// that folder is taken up where its checksums hold. Nothing that is read is ever replaced.
//
// Errors     as Checkpoint::open for the input · invalid: the result is there already, is the input, or cannot be named so ·
//            unsupported: numbers or keys that the container cannot say, with tensor or key · corrupt: NaN, or a file that
//            became shorter · exhausted: no room on the disk, with both numbers
// Threads    one call for one result
// Cost       one pass over the input; under 64 MiB beside the lists and the tokenizer
// Spec       containers.md; quant_formats.md 5; cli.md "convert"
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "container/stored_type.h"

namespace manyspan {

struct ConvertProgress {
  std::uint64_t done_bytes, total_bytes;  // of the result
};

struct ConvertOptions {
  std::uint64_t shard_bytes = 0;         // at most so many in a file, unless one tensor has more; 0: one file
  std::optional<StoredType> quantize{};  // one of quantisable_types()
  bool overwrite = false;                // replace a result that is there
  bool restart = false;                  // throw away what an earlier call left unfinished
  const Cancel* cancel = nullptr;
  std::function<void(const ConvertProgress&)> progress{};
};

// Tensors of one stored kind that became one other kind.
struct ConvertedKind {
  std::string from, to;  // "FP8 32x32", "BF16"
  std::int64_t matrices = 0;
  std::uint64_t bytes_before = 0, bytes_after = 0;
};

struct ConvertReport {
  std::vector<ConvertedKind> kinds;
  std::vector<std::string> notes;   // what was left out, and what stayed finer than asked for
  std::vector<std::string> files;   // written, the first to be opened first
  std::uint64_t bytes = 0;          // of all files of tensors
  std::uint64_t resumed_bytes = 0;  // of those, found from an earlier call
  bool finished = false;            // or it was cancelled, and what is done waits in OUT.partial
};

Result<ConvertReport> convert(const std::string& in, const std::string& out,
                              const ConvertOptions& options = {});

}  // namespace manyspan
