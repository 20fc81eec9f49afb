#include "weights/matrix.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "weights/names_hf.h"
#include "weights/number_checks.h"

namespace manyspan {
namespace {

using Shape = std::vector<std::int64_t>;

struct Block {
  std::int64_t rows, cols;
};

// Of the encodings that have scales.
Block block_of(Encoding e) {
  if (e == Encoding::fp8_block32) return {32, 32};
  if (e == Encoding::fp8_block128) return {128, 128};
  return {1, 32};
}

bool has_scales(Encoding e) { return e != Encoding::f32 && e != Encoding::f16 && e != Encoding::bf16; }

std::string text_of_shape(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

struct Reader {
  Directory& directory;
  const std::string& official;
  const MatrixWanted& wanted;
  const Slot& slot = wanted.slot;
  const Container& container = directory.container();
  const bool is_gguf = container.format() == ContainerFormat::gguf;
  const StoredTensor* codes = directory.take(official);
  const StoredTensor* scales = nullptr;
  MatrixSource whole{};  // all matrices as one

  Error wrong(const StoredTensor& tensor, const std::string& what, Fault fault = Fault::corrupt) const {
    return Error(fault, container.place(tensor) + ": " + what);
  }

  bool row_scaled() const {
    return slot.kind == SlotKind::row_scaled_table || wanted.quantization.block_rows == 1;
  }

  Encoding fp8() const {
    if (row_scaled()) return Encoding::mxfp8;
    return wanted.quantization.block_rows == 128 ? Encoding::fp8_block128 : Encoding::fp8_block32;
  }

  std::optional<Encoding> encoding() const {
    switch (codes->type) {
      case StoredType::f32:
        return Encoding::f32;
      case StoredType::f16:
        return Encoding::f16;
      case StoredType::bf16:
        return Encoding::bf16;
      case StoredType::f8_e4m3:
        return fp8();
      case StoredType::i8:  // in GGUF also the bytes of FP8, which has no type there
        return is_gguf && row_scaled() && codes->row_elements() == slot.cols ? Encoding::mxfp8
                                                                             : Encoding::mxfp4;
      case StoredType::u8:
      case StoredType::f4:
        return Encoding::mxfp4;
      case StoredType::u32:  // words of packed codes: their number tells how many a word holds
        return row_scaled() && codes->row_elements() * 4 == slot.cols ? Encoding::mxfp8 : Encoding::mxfp4;
      default:
        return std::nullopt;
    }
  }

  // `rows` x `cols` as `tensor` must have them, in any of the ranks that say the same.
  bool shaped(const StoredTensor& tensor, std::int64_t rows, std::int64_t cols) const {
    const Shape& s = tensor.shape;
    if (is_gguf && s == without_leading_ones({std::max(wanted.merged, 1), rows, cols})) return true;
    if (wanted.merged > 0) return s == Shape{wanted.merged, rows, cols};
    if (slot.kind == SlotKind::vector_f32 || (slot.kind == SlotKind::vector_bf16 && slot.rows == 1))
      return s == Shape{cols};
    if (s == Shape{rows, cols}) return true;
    // Some copies give the output groups of wo_a a dimension of their own; the bytes are the same.
    return slot.role == Role::wo_a && s.size() == 3 && s[0] > 0 && rows % s[0] == 0 && s[1] == rows / s[0] &&
           s[2] == cols;
  }

  // As a GGUF has it: its writers drop trailing dimensions of 1, which are these turned round.
  static Shape without_leading_ones(Shape shape) {
    while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
    return shape;
  }

  std::string shape_text(std::int64_t rows, std::int64_t cols) const {
    if (wanted.merged > 0) return text_of_shape({wanted.merged, rows, cols});
    if (slot.rows == 1 && slot.kind != SlotKind::plain_linear && slot.kind != SlotKind::quantised_linear)
      return text_of_shape({cols});
    return text_of_shape({rows, cols});
  }

  // An expert's bytes must not contradict what the config says of them. A copy decoded to floats may keep its word.
  Result<void> check_said(Encoding e) const {
    using Said = Quantization::ExpertDtype;
    const Said said = wanted.quantization.expert_dtype;
    const bool expert =
        slot.role == Role::expert_w1 || slot.role == Role::expert_w2 || slot.role == Role::expert_w3;
    if (!expert || said == Said::unsaid || !has_scales(e)) return {};
    const Said stored = code_bits(e) == 4 ? Said::fp4 : Said::fp8;
    if (stored == said) return {};
    const std::string word = said == Said::fp4 ? "fp4" : said == Said::fp8 ? "fp8" : "bf16";
    return wrong(*codes,
                 "is stored as " + std::string(name(codes->type)) + " (" + std::string(name(e)) +
                     "), but the config's expert_dtype is " + word,
                 Fault::invalid);
  }

  Result<void> read_codes() {
    const std::optional<Encoding> e = encoding();
    if (in_blocks(codes->type)) {
      return wrong(*codes,
                   std::string(name(slot.role)) + " is stored as " + std::string(name(codes->type)) +
                       ", which is not supported yet",
                   Fault::unsupported);
    }
    if (!e || !slot.allowed.has(*e)) {
      std::string what =
          std::string(name(slot.role)) + " may not be stored as " + std::string(name(codes->type));
      if (e && *e != Encoding::f16) what += " (" + std::string(name(*e)) + ")";
      return wrong(*codes, what, Fault::unsupported);
    }
    TRY(check_said(*e));
    // How many columns one element of the stored shape holds.
    const std::int64_t packed = bits(codes->type) / code_bits(*e);
    if (slot.cols % packed != 0 || !shaped(*codes, slot.rows, slot.cols / packed)) {
      return wrong(*codes,
                   "is " + described(*codes) + ", must be " + shape_text(slot.rows, slot.cols / packed));
    }
    whole.encoding = *e;
    whole.codes = container.bytes(*codes);
    whole.codes_tensor = codes;
    return {};
  }

  Result<void> find_scales() {
    constexpr std::string_view kWeight = ".weight";
    if (!official.ends_with(kWeight)) return {};
    const std::string stem = official.substr(0, official.size() - kWeight.size());
    for (const std::string_view suffix : hf_scale_suffixes()) {
      const StoredTensor* found = directory.take(stem + std::string(suffix));
      if (found == nullptr) continue;
      if (scales != nullptr) return wrong(*found, "a second scale beside tensor " + scales->name);
      scales = found;
    }
    return {};
  }

  Result<void> read_scales() {
    if (!has_scales(whole.encoding)) return {};
    TRY(find_scales());
    const std::string kind(name(whole.encoding));
    if (scales == nullptr) return wrong(*codes, "no scale, which " + kind + " needs");
    const Block block = block_of(whole.encoding);
    const std::int64_t rows = (slot.rows + block.rows - 1) / block.rows,
                       cols = (slot.cols + block.cols - 1) / block.cols;
    const std::string blocks =
        std::to_string(block.rows) + "x" + std::to_string(block.cols) + " blocks of " + described(*codes);
    if (!shaped(*scales, rows, cols)) {
      return wrong(*scales, "scale is " + described(*scales) + ", must be " + shape_text(rows, cols) +
                                " for " + blocks);
    }
    const StoredType type = scales->type;
    const bool as_u8 = type == StoredType::u8 && wanted.quantization.scales_ue8m0;
    const bool as_i8 = is_gguf && type == StoredType::i8 && slot.kind == SlotKind::row_scaled_table;
    const bool as_f32 = type == StoredType::f32 && whole.encoding == Encoding::fp8_block128;
    if (type != StoredType::f8_e8m0 && !as_u8 && !as_i8 && !as_f32) {
      std::string what = "scale may not be stored as " + std::string(name(type)) + " for " + blocks;
      if (type == StoredType::u8) what += ": the config does not say that scale_fmt is ue8m0";
      return wrong(*scales, what, Fault::unsupported);
    }
    whole.scales = container.bytes(*scales);
    whole.scales_tensor = scales;
    whole.scale_type = as_f32 ? ScaleType::f32 : ScaleType::e8m0;
    return {};
  }

  Result<void> scan() const {
    TRY(check_exact(container, slot, whole));
    // Tables are too large to read through; their rows are looked at when they are used.
    if (!wanted.scan || slot.kind == SlotKind::row_scaled_table) return {};
    return check_numbers(container, whole);
  }

  std::vector<MatrixSource> cut() const {
    const std::size_t count = static_cast<std::size_t>(wanted.merged > 0 ? wanted.merged : 1);
    const std::size_t codes_each = whole.codes.size() / count, scales_each = whole.scales.size() / count;
    std::vector<MatrixSource> sources;
    for (std::size_t i = 0; i < count; ++i) {
      MatrixSource one = whole;
      one.place = container.place(*codes);
      if (wanted.merged > 0) one.place += "[" + std::to_string(i) + "]";
      one.codes = whole.codes.subspan(i * codes_each, codes_each);
      if (!whole.scales.empty()) one.scales = whole.scales.subspan(i * scales_each, scales_each);
      one.rows = slot.rows;
      one.cols = slot.cols;
      sources.push_back(std::move(one));
    }
    return sources;
  }
};

}  // namespace

Result<std::vector<MatrixSource>> read_matrices(Directory& directory, const std::string& official,
                                                const MatrixWanted& wanted) {
  Reader reader{directory, official, wanted};
  if (auto read = reader.read_codes(); !read.ok()) {
    if (auto theirs = reader.find_scales(); !theirs.ok())
      return std::move(theirs).error();  // else they seem unexpected
    return std::move(read).error();
  }
  TRY(reader.read_scales());
  TRY(reader.scan());
  return reader.cut();
}

}  // namespace manyspan
