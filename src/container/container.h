// Container — the named tensors of a checkpoint, whatever its format and however many files it has.
//
// Shapes     row-major, the last dimension contiguous; no dimension is one element. A GGUF's are turned round: its
//            first dimension is the contiguous one
// Owns       the files and their mappings; what bytes() lends lives as long as the Container, moved or not
// Errors     not_found: no file; corrupt: against the format's rules; unsupported: another format; exhausted:
//            files or memory. Messages name the file and, where known, the tensor and both numbers that
//            disagree
// Threads    any, once open
// Spec       containers.md A, B.1 to B.3
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "container/stored_type.h"

namespace manyspan {

enum class ContainerFormat : std::uint8_t { safetensors, gguf };

struct StoredTensor {
  std::string name;
  StoredType type;
  std::vector<std::int64_t> shape;  // each ≥ 0; the product, zeros left out, times the bits fits int64
  std::uint64_t offset;             // from the file's first byte
  std::uint64_t bytes;
  std::size_t file = 0;  // which of the Container's files

  std::int64_t elements() const;
  // A row is the last dimension; without dimensions there is one row of one element.
  std::int64_t rows() const;
  std::int64_t row_elements() const { return shape.empty() ? 1 : shape.back(); }
};

// "BF16 [5120, 1280]", for messages.
std::string described(const StoredTensor& tensor);

class Container {
 public:
  // One file that a reader has understood. Tensors' `file` is not yet set.
  struct Part {
    File file;
    std::vector<StoredTensor> tensors;  // all within the file
    Json metadata;                      // an object
    ContainerFormat format = ContainerFormat::safetensors;
  };

  // Joins parts. A tensor in two of them is refused, naming both files. `path` is what a person opened.
  static Result<Container> join(std::string path, std::vector<Part> parts);

  const std::string& path() const { return path_; }
  ContainerFormat format() const { return format_; }
  std::span<const StoredTensor> tensors() const { return tensors_; }  // in ascending order of name
  const StoredTensor* find(std::string_view name) const;              // null where there is none

  std::size_t files() const { return files_.size(); }
  const std::string& file_path(std::size_t file) const { return files_[file].file.path(); }
  const Json& metadata(std::size_t file = 0) const { return files_[file].metadata; }  // always an object

  // "FILE: tensor NAME", for messages.
  std::string place(const StoredTensor& tensor) const;

  // Mapped, at any alignment: an address for each byte. A file cut short since it was opened ends the process when
  // the lost part is touched, so only tests read there; everything else calls read() or read_rows().
  Bytes bytes(const StoredTensor& tensor) const;

  // A wish about bytes [from, from + bytes) of the tensor.
  void advise(const StoredTensor& tensor, std::uint64_t from, std::uint64_t bytes, Access access) const;

  // Copies out.size() bytes from byte `from` of the tensor on. corrupt: the file has become shorter; invalid: past
  // the tensor's end.
  Result<void> read(const StoredTensor& tensor, std::uint64_t from, std::span<std::byte> out) const;

  // Copies `count` rows from row `first` on; `out` is exactly their size. invalid as well where rows are no whole
  // bytes.
  Result<void> read_rows(const StoredTensor& tensor, std::int64_t first, std::int64_t count,
                         std::span<std::byte> out) const;

 private:
  struct Opened {
    File file;
    Mapping mapping;
    Json metadata;
  };

  Container() = default;

  std::string path_;
  ContainerFormat format_ = ContainerFormat::safetensors;
  std::vector<Opened> files_;
  std::vector<StoredTensor> tensors_;
};

// What `path` names: a .safetensors file, an index (*.safetensors.index.json), a .gguf file, or the first part of a
// split set of them, or a directory, where the index, else model.safetensors, else every *.safetensors, else the one
// GGUF model is taken. Symbolic links are followed.
Result<Container> open_container(const std::string& path);

// Whether open_container would take it for a GGUF: a file by its name or first bytes, a directory where it holds no
// safetensors file. False where nothing is there.
bool leads_to_gguf(const std::string& path);

}  // namespace manyspan
