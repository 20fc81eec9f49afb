// tiny_gguf — for tests: a checkpoint's tensors as a GGUF of plain floats, which says the same to the last bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "container/gguf_write.h"
#include "spec/blueprint.h"
#include "tensor/bf16.h"
#include "tensor/weight.h"
#include "weights/names_gguf.h"
#include "weights/weights.h"

namespace manyspan {

template <class Number>
std::vector<Number> numbers_of(const Json::Array& items) {
  std::vector<Number> numbers;
  for (const Json& item : items) {
    numbers.push_back(std::is_floating_point_v<Number> ? static_cast<Number>(*item.number())
                                                       : static_cast<Number>(*item.integer()));
  }
  return numbers;
}

// The narrowest type of GGUF that has the value: U32, I32 or U64, F32, text, or a list of one of them.
inline void add_json(GgufKeys& keys, const std::string& key, const Json& value) {
  constexpr std::int64_t kWide = std::numeric_limits<std::uint32_t>::max();
  if (value.string() != nullptr) return keys.add(key, *value.string());
  if (value.boolean()) return keys.add(key, *value.boolean());
  const Json::Array alone = {value}, &items = value.array() != nullptr ? *value.array() : alone;
  const bool list = value.array() != nullptr;
  if (list && !items.empty() && items[0].string() != nullptr) {
    std::vector<std::string> texts;
    for (const Json& item : items) texts.push_back(*item.string());
    return keys.add(key, texts);
  }
  const auto any = [&](auto holds) { return std::any_of(items.begin(), items.end(), holds); };
  const bool floats = any([](const Json& j) { return !j.is_integer(); });
  const bool minus = !floats && any([](const Json& j) { return *j.integer() < 0; });
  const bool wide = !floats && any([](const Json& j) { return *j.integer() > kWide; });
  const auto put = [&](auto number) {
    using Number = decltype(number);
    const std::vector<Number> numbers = numbers_of<Number>(items);
    list ? keys.add(key, numbers) : keys.add(key, numbers[0]);
  };
  floats ? put(float{}) : minus ? put(std::int32_t{}) : wide ? put(std::uint64_t{}) : put(std::uint32_t{});
}

struct OwnedTensor {
  std::string name;
  StoredType type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
};

class GgufCopy {
 public:
  // `second`: the second family's names, where they differ.
  GgufCopy(const Weights& weights, bool second) {
    for (const Slot& slot : weights.slots()) {
      if (weights.find(slot.role, slot.layer) == nullptr) continue;
      std::string name = gguf_name(slot.role, slot.layer);
      if (second) respell(name);
      slot.kind == SlotKind::row_scaled_table ? table(weights, slot, name) : floats(weights, slot, name);
    }
  }

  // In `parts` files, whose names are `stem` and the usual numbers; one file is named `stem`.gguf.
  // Gives the path of the first.
  std::string write(const std::string& stem, const Json& metadata, std::uint16_t parts = 1) const {
    std::string first;
    const std::size_t each = (tensors.size() + parts - 1) / parts;
    for (std::uint16_t part = 0; part < parts; ++part) {
      GgufKeys keys;
      std::uint32_t alignment = 32;
      for (const JsonMember& m : *metadata.object()) {
        if (m.key == kGgufAlignmentKey)
          alignment = static_cast<std::uint32_t>(*m.value.integer());
        else if (part == 0)
          add_json(keys, m.key, m.value);
      }
      std::string path = stem + ".gguf";
      if (parts > 1) {
        keys.add("split.no", part);
        keys.add("split.count", parts);
        keys.add("split.tensors.count", static_cast<std::int32_t>(tensors.size()));
        char tail[32];
        std::snprintf(tail, sizeof tail, "-%05d-of-%05d.gguf", part + 1, parts);
        path = stem + tail;
      }
      std::vector<TensorToWrite> here;
      for (std::size_t i = part * each; i < std::min(tensors.size(), (part + std::size_t{1}) * each); ++i)
        here.push_back({tensors[i].name, tensors[i].type, tensors[i].shape, tensors[i].data});
      const auto written = write_gguf(path, keys, here, alignment);
      CHECK(written.ok(), "a copy that can be written");
      if (part == 0) first = path;
    }
    return first;
  }

  std::vector<OwnedTensor> tensors;

 private:
  static void respell(std::string& name) {
    const std::pair<const char*, const char*> kOther[] = {
        {"engram_wkv.", "engram_kv."}, {"engram_q.", "engram_q_norm."}, {"engram_k.", "engram_k_norm."}};
    for (const auto& [one, other] : kOther) {
      const std::size_t at = name.find(one);
      if (at != std::string::npos) name.replace(at, std::string_view(one).size(), other);
    }
  }

  // FP8 has no type in GGUF: codes and scales as bytes.
  void table(const Weights& weights, const Slot& slot, const std::string& name) {
    const MatrixSource& m = weights.at(slot.role, slot.layer);
    const std::string stem = name.substr(0, name.size() - std::string_view("weight").size());
    tensors.push_back({name, StoredType::i8, {m.rows, m.cols}, {m.codes.begin(), m.codes.end()}});
    tensors.push_back(
        {stem + "scale", StoredType::i8, {m.rows, m.cols / 32}, {m.scales.begin(), m.scales.end()}});
  }

  void floats(const Weights& weights, const Slot& slot, const std::string& name) {
    const Encoding stored = weights.at(slot.role, slot.layer).encoding;
    const bool vector = slot.kind == SlotKind::vector_f32 || slot.kind == SlotKind::vector_bf16;
    const bool wide = vector || stored == Encoding::f32;
    OwnedTensor tensor{name, wide ? StoredType::f32 : StoredType::bf16, {}, {}};
    if (slot.matrices > 1) tensor.shape.push_back(slot.matrices);
    if (!vector || slot.rows > 1) tensor.shape.push_back(slot.rows);
    tensor.shape.push_back(slot.cols);
    std::vector<float> row(static_cast<std::size_t>(slot.cols) + 32);
    for (std::int32_t e = 0; e < slot.matrices; ++e) {
      const MatrixSource& m = weights.at(slot.role, slot.layer, e);
      Weight w{};
      w.codes = m.codes.data();
      w.scales = m.scales.empty() ? nullptr : m.scales.data();
      w.rows = static_cast<std::int32_t>(m.rows);
      w.cols = static_cast<std::int32_t>(m.cols);
      w.encoding = m.encoding;
      for (std::int64_t r = 0; r < m.rows; ++r) {
        values(w, r, 0, m.cols, row.data());
        for (std::int64_t c = 0; c < m.cols; ++c) put(tensor.data, row[static_cast<std::size_t>(c)], wide);
      }
    }
    tensors.push_back(std::move(tensor));
  }

  static void put(std::vector<std::byte>& data, float value, bool wide) {
    const auto append = [&](auto number) {
      std::byte bytes[sizeof number];
      std::memcpy(bytes, &number, sizeof number);
      data.insert(data.end(), bytes, bytes + sizeof number);
    };
    if (wide) return append(value);
    const Bf16 narrow = to_bf16(value);
    CHECK(to_float(narrow) == value, "a weight that BF16 holds exactly");
    append(narrow);
  }
};

}  // namespace manyspan
