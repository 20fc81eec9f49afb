// pieces — in which order the bytes of files are read, and in how large parts.
//
// Parts of several files take turns, so that as many hashes, each of which needs its file in order, are computed at once.
// Within a file the order is that of its bytes.
//
// Threads    pure
#pragma once

#include <cstdint>
#include <vector>

#include "container/container.h"
#include "verify/rule.h"

namespace manyspan {

struct Piece {
  std::uint32_t file;   // the container's files, then those beside it
  std::int32_t tensor;  // in container.tensors(); -1: none
  std::uint64_t from;   // from the file's first byte
  std::uint32_t bytes;  // whole units of the tensor's rule
};

struct PieceOptions {
  std::uint64_t most_bytes = std::uint64_t{4} << 20;
  double sample = 1;        // the share of codes that is read; scales always are
  std::size_t at_once = 1;  // files that take turns
};

struct FileToRead {
  std::uint64_t bytes;
  bool whole;  // headers and gaps as well; else its tensors alone
};

// `files`: the container's, in its order, then others, which are whole. `container`: null where there is none.
std::vector<Piece> pieces_of(const Container* container, const std::vector<Rule>& rules,
                             const std::vector<FileToRead>& files, const PieceOptions& options);

}  // namespace manyspan
