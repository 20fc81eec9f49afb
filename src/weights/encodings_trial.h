// encodings_trial — for tests: matrices written to a file and read back through the loader, number by number.
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "container/gguf_write.h"
#include "container/safetensors_write.h"
#include "tensor/blocks.h"
#include "weights/block_trial.h"
#include "weights/matrix.h"
#include "weights/plain.h"
#include "weights/stored_encoding.h"

namespace manyspan {

using Numbers = std::function<float(std::int64_t, std::int64_t)>;

inline const std::string kOfficial = "layers.0.attn.wq_b.weight", kStem = "layers.0.attn.wq_b";

struct Stored {
  std::string name;
  StoredType type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};

class Encodings : public ::testing::Test {
 protected:
  Result<std::vector<MatrixSource>> read(const std::vector<Stored>& tensors, bool gguf, std::int64_t rows,
                                         std::int64_t cols, std::int32_t merged = 0) {
    std::vector<TensorToWrite> all;
    for (const Stored& t : tensors) all.push_back({t.name, t.type, t.shape, t.data});
    file_ = folder_ / (gguf ? "m.gguf" : "m.safetensors");
    TRY(gguf ? write_gguf(file_, {}, all) : write_safetensors(file_, all));
    container_.emplace(TRY(open_container(file_)));
    Directory directory = TRY(Directory::of(*container_, 1));
    const Slot slot{role_, LayerId{0}, std::max(merged, 1), rows, cols, kind_, allowed_};
    auto sources = read_matrices(directory, official_, {slot, quantization_, merged});
    left_.clear();
    for (const std::string_view name : directory.left()) left_ += std::string(name) + " ";
    return sources;
  }

  std::string refusal(const std::vector<Stored>& tensors, bool gguf, std::int64_t rows, std::int64_t cols,
                      std::int32_t merged = 0) {
    auto made = read(tensors, gguf, rows, cols, merged);
    return made.ok() ? "accepted" : made.error().message();
  }

  // Reads every number of every matrix.
  void expect(const std::vector<Stored>& tensors, bool gguf, std::int64_t rows, std::int64_t cols,
              Encoding encoding, const Numbers& numbers, std::int32_t merged = 0) {
    auto sources = read(tensors, gguf, rows, cols, merged);
    ASSERT_TRUE(sources.ok()) << sources.error().message();
    EXPECT_EQ(left_, "");
    for (std::size_t e = 0; e < sources.value().size(); ++e) {
      const MatrixSource& source = sources.value()[e];
      ASSERT_EQ(source.encoding, encoding) << name(source.encoding);
      ASSERT_EQ(source.rows, rows);
      ASSERT_EQ(source.cols, cols);
      const PlainMatrix plain = plain_matrix(source);
      const auto first = static_cast<std::int64_t>(e) * rows;
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c)
          ASSERT_EQ(value(plain.weight, r, c), numbers(first + r, c))
              << name(encoding) << " " << r << ", " << c;
      }
    }
  }

  static EncodingSet everything() {
    EncodingSet all{};
    for (int e = 0; e < kEncodings; ++e) all = all | EncodingSet{static_cast<Encoding>(e)};
    return all;
  }

  TemporaryFolder folder_;
  std::string file_, official_ = kOfficial, left_;
  Role role_ = Role::wq_b;
  SlotKind kind_ = SlotKind::quantised_linear;
  EncodingSet allowed_ = everything();
  Quantization quantization_{};
  std::optional<Container> container_;
};

// Which quarter of a grid a place is in: 0 to 3.
inline int quarter(std::int64_t r, std::int64_t rows, std::int64_t c, std::int64_t cols) {
  return (r * 2 >= rows ? 2 : 0) + (c * 2 >= cols ? 1 : 0);
}

// The power of two of a scale of [down, across], by its quarter: 2^-2, 2^-1, 2^0, 2^1.
inline int power_at(std::int64_t r, std::int64_t down, std::int64_t c, std::int64_t across) {
  return quarter(r, down, c, across) - 2;
}
inline std::vector<std::byte> bytes_of(float number) {
  std::vector<std::byte> bytes(4);
  std::memcpy(bytes.data(), &number, 4);
  return bytes;
}
// Blocks differ from each other in codes, and in scales by the quarter of the matrix that they are in.
struct BlockMatrix {
  std::int64_t rows, across;
  Encoding encoding;
  std::vector<std::byte> data{};
  std::vector<float> numbers{};

  BlockMatrix(Encoding e, std::int64_t down, std::int64_t over, std::uint64_t seed)
      : rows(down), across(over), encoding(e) {
    Scatter scatter(seed);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t b = 0; b < across; ++b) {
        const std::vector<std::byte> block = valid_block(e, scatter, power_at(r, rows, b, across));
        data.insert(data.end(), block.begin(), block.end());
        numbers.resize(numbers.size() + static_cast<std::size_t>(block_cols(e)));
        decode_block(e, block.data(), numbers.data() + numbers.size() - block_cols(e));
      }
    }
  }
  std::int64_t cols() const { return across * block_cols(encoding); }
  float at(std::int64_t r, std::int64_t c) const { return numbers[static_cast<std::size_t>(r * cols() + c)]; }
};

inline constexpr StoredType kBlockTypes[] = {
    StoredType::q4_0,       StoredType::q8_0,       StoredType::q2_k,     StoredType::q3_k,
    StoredType::q4_k,       StoredType::q5_k,       StoredType::q6_k,     StoredType::iq2_xxs,
    StoredType::iq3_xxs,    StoredType::iq3_s,      StoredType::iq4_nl,   StoredType::iq4_xs,
    StoredType::mxfp4_ggml, StoredType::nvfp4_ggml, StoredType::fp8_b128, StoredType::mxfp8_b256};

}  // namespace manyspan
