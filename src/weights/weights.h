// Weights — every slot of the model filled with borrowed bytes, by role: names end here.
//
// Whatever assemble() returned is complete and well shaped: each matrix has the rows and columns of its slot,
// in an encoding that the slot allows, and scales that agree with it.
//
// Owns       its lists; the bytes belong to the container, which must outlive it
// Threads    immutable
// Spec       model.md 2; containers.md A.4, A.5
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/ids.h"
#include "base/result.h"
#include "spec/slots.h"
#include "tensor/encoding.h"

namespace manyspan {

class Container;
struct StoredTensor;

enum class ScaleType : std::uint8_t {
  none,
  e8m0,
  e4m3,  // of nvfp4
  f32,   // of fp8_block128: each a power of two that E8M0 can hold; of fp8_block128_f32: any
};

// One matrix as the checkpoint stores it: row-major, rows contiguous, scales in a plane of their own or in the rows'
// blocks. weights/plain.h makes a Weight of it.
struct MatrixSource {
  std::string place;  // for messages: "model-00003-of-00048.safetensors: layers.0.attn.wq_a.weight"
  // Where in the container's mapping they lie, unaligned. A file cut short ends the process that touches them there:
  // Weights::read() copies them instead.
  std::span<const std::byte> codes, scales;
  std::int64_t rows = 0, cols = 0;  // logical
  Encoding encoding = Encoding::f32;
  ScaleType scale_type = ScaleType::none;
  float factor = 1.0f;  // of nvfp4 and nvfp4_ggml: multiplies every number of the matrix
  const StoredTensor* codes_tensor = nullptr;  // where codes and scales are cut from
  const StoredTensor* scales_tensor = nullptr;
};

enum class Plane : std::uint8_t { codes, scales };

class Weights {
 public:
  // Null where the checkpoint has none: another layer's role, or a capability that it lacks.
  const MatrixSource* find(Role role, LayerId layer = LayerId{-1}, std::int32_t expert = 0) const;

  // The same, where it must be there.
  const MatrixSource& at(Role role, LayerId layer = LayerId{-1}, std::int32_t expert = 0) const;

  // What the checkpoint has tensors for. Those of `vision` and `draft` are not assembled.
  bool has(Capability capability) const { return has_[static_cast<std::size_t>(capability)]; }

  // Copies out.size() bytes from byte `from` of a plane on, without touching the mapping.
  // Errors: corrupt, where the file has become shorter or cannot be read
  Result<void> read(const MatrixSource& m, Plane plane, std::uint64_t from, std::span<std::byte> out) const;

  // Whether `part`, which was read from byte `from` of a plane on, holds a number that is not finite, or a scale that
  // makes one; both ends are those of numbers.
  // Errors: corrupt
  Result<void> check(const MatrixSource& m, Plane plane, std::uint64_t from,
                     std::span<const std::byte> part) const;

  // A wish about bytes [from, from + bytes) of a plane.
  void advise(const MatrixSource& m, Plane plane, std::uint64_t from, std::uint64_t bytes,
              Access access) const;

  // Copies rows of a table. `codes` is `count` rows of codes, `scales` as many of scales, empty where the rows hold
  // theirs. Requires a table's source, rows inside it.
  // Errors: corrupt, where the file has become shorter or cannot be read
  Result<void> read_rows(const MatrixSource& table, std::int64_t first, std::int64_t count,
                         std::span<std::byte> codes, std::span<std::byte> scales) const;

  const std::vector<Slot>& slots() const { return slots_; }

  // Where the files are coarser than is good for the model, a sentence for each kind of weight.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class Assembly;

  struct Place {
    std::int64_t first = -1;  // in sources_
    std::int32_t count = 0;
  };
  std::size_t index(Role role, LayerId layer) const {
    return static_cast<std::size_t>(layer.value + 1) * kRoles + static_cast<std::size_t>(role);
  }

  std::vector<Slot> slots_;
  std::vector<MatrixSource> sources_;
  std::vector<Place> places_;  // by layer + 1, then role
  std::array<bool, 4> has_{};
  std::vector<std::string> warnings_;
  const Container* container_ = nullptr;
};

}  // namespace manyspan
