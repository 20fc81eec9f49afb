// TinyCheckpoint — for tests: the tensors of tests/data/t1_base in memory, to be changed, written and assembled.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "container/safetensors_write.h"
#include "weights/assemble.h"

#ifdef MANYSPAN_SOURCE_DIR

namespace manyspan {

struct Held {
  StoredType type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};

class TinyCheckpoint : public ::testing::Test {
 protected:
  TinyCheckpoint() {
    const std::string tiny = MANYSPAN_SOURCE_DIR "/tests/data/t1_base";
    const Container container = open_container(tiny).value();
    for (const StoredTensor& t : container.tensors()) {
      const Bytes bytes = container.bytes(t);
      tensors_[t.name] = {t.type, t.shape, {bytes.begin(), bytes.end()}};
    }
    std::ifstream in(tiny + "/config.json");
    std::stringstream text;
    text << in.rdbuf();
    blueprint_ = read_blueprint(text.str()).value();
    file_ = ::testing::TempDir() + "assemble_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".safetensors";
  }
  ~TinyCheckpoint() override { std::filesystem::remove(file_); }

  Result<void> assembled() {
    std::vector<TensorToWrite> all;
    for (const auto& [name, held] : tensors_) all.push_back({name, held.type, held.shape, held.data});
    weights_.reset();
    container_.reset();
    TRY(write_safetensors(file_, all));
    container_.emplace(TRY(open_container(file_)));
    weights_.emplace(TRY(assemble(*container_, blueprint_)));
    return {};
  }

  std::string refusal() {
    auto made = assembled();
    return made.ok() ? "accepted" : made.error().message();
  }

  void rename(const std::string& from, const std::string& to) {
    auto node = tensors_.extract(from);
    ASSERT_FALSE(node.empty()) << from;
    node.key() = to;
    tensors_.insert(std::move(node));
  }

  template <class To>
  void rename_all(To to) {
    std::map<std::string, Held> renamed;
    for (auto& [name, held] : tensors_) renamed[to(name)] = std::move(held);
    tensors_ = std::move(renamed);
  }

  // Gives every FP8 weight but the tables scales of 1 in blocks of another size.
  void rescale(std::int64_t block_rows, std::int64_t block_cols, StoredType type) {
    for (auto& [name, held] : tensors_) {
      if (held.type != StoredType::f8_e4m3 || name.find("engram.embed") != std::string::npos) continue;
      Held& scale = tensors_.at(name.substr(0, name.size() - 6) + "scale");
      scale.type = type;
      scale.shape = {(held.shape[0] + block_rows - 1) / block_rows,
                     (held.shape[1] + block_cols - 1) / block_cols};
      const auto count = static_cast<std::size_t>(scale.shape[0] * scale.shape[1]);
      scale.data.assign(count, std::byte{127});
      if (type != StoredType::f32) continue;
      const std::vector<float> ones(count, 1.0f);
      scale.data.resize(count * 4);
      std::memcpy(scale.data.data(), ones.data(), count * 4);
    }
    blueprint_.quantization.block_rows = static_cast<std::int32_t>(block_rows);
    blueprint_.quantization.block_cols = static_cast<std::int32_t>(block_cols);
  }

  // Joins the experts of every layer into tensors of rank 3, projections w1, w2, w3 under other names.
  void merge_experts(const std::string& stem, const std::array<std::string, 3>& projections,
                     const std::string& scale) {
    for (std::int32_t l = 0; l < blueprint_.layers; ++l) {
      for (std::size_t w = 0; w < 3; ++w) {
        for (const std::string part : {"weight", "scale"}) {
          const std::string layer = "layers." + std::to_string(l) + ".ffn.";
          Held merged;
          for (std::int32_t e = 0; e < blueprint_.experts; ++e) {
            auto node = tensors_.extract(layer + "experts." + std::to_string(e) + ".w" +
                                         std::to_string(w + 1) + "." + part);
            const Held& one = node.mapped();
            merged.type = one.type;
            merged.shape = {blueprint_.experts, one.shape[0], one.shape[1]};
            merged.data.insert(merged.data.end(), one.data.begin(), one.data.end());
          }
          tensors_[layer + stem + "." + projections[w] + "." + (part == "scale" ? scale : part)] =
              std::move(merged);
        }
      }
    }
  }

  std::map<std::string, Held> tensors_;
  Blueprint blueprint_{};
  std::optional<Container> container_;
  std::optional<Weights> weights_;
  std::string file_;
};

inline bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

#define EXPECT_SAYS(message, part) EXPECT_TRUE(says(message, part)) << (message)

inline constexpr LayerId kFive{5};

}  // namespace manyspan

#endif
