#include "weights/matrix.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tensor/weight.h"
#include "weights/matrix_scan.h"
#include "weights/names_hf.h"
#include "weights/number_checks.h"
#include "weights/stored_encoding.h"

namespace manyspan {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr std::string_view kWeight = ".weight", kFactor = ".weight_scale_2", kInput = ".input_scale",
                           kBiases = ".biases";

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
  const std::string stem = official.ends_with(kWeight) ? official.substr(0, official.size() - kWeight.size())
                                                       : std::string();  // of what may stand beside it
  const StoredTensor* codes = directory.take(official);
  const StoredTensor* scales = nullptr;
  const StoredTensor* more_scales = nullptr;  // a second plane under another name
  MatrixSource whole{};                       // all matrices as one
  std::vector<float> factors{};               // one, or one for each matrix

  Error wrong(const StoredTensor& tensor, const std::string& what, Fault fault = Fault::corrupt) const {
    return Error(fault, container.place(tensor) + ": " + what);
  }

  std::string stored_as(const StoredTensor& tensor, Encoding e) const {
    return std::string(name(tensor.type)) + (in_blocks(tensor.type) ? "" : " (" + std::string(name(e)) + ")");
  }

  const StoredTensor* beside(std::string_view suffix) const {
    return stem.empty() ? nullptr : directory.find(stem + std::string(suffix));
  }

  void find_scales() {
    for (const std::string_view suffix : hf_scale_suffixes()) {
      const StoredTensor* found = beside(suffix);
      if (found == nullptr) continue;
      (scales == nullptr ? scales : more_scales) = found;
    }
  }

  // So that nothing that belongs to a matrix seems unexpected.
  void take_scales() {
    if (stem.empty()) return;
    for (const std::string_view suffix : hf_scale_suffixes()) directory.take(stem + std::string(suffix));
  }
  void take_all_beside() {
    take_scales();
    if (stem.empty()) return;
    for (const std::string_view suffix : {kFactor, kInput, kBiases})
      directory.take(stem + std::string(suffix));
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
    if (!expert || said == Said::unsaid || scale_block(e).rows == 0) return {};
    const Said stored = code_bits(e) == 4 ? Said::fp4 : Said::fp8;
    if (stored == said) return {};
    const std::string word = said == Said::fp4 ? "fp4" : said == Said::fp8 ? "fp8" : "bf16";
    return wrong(*codes,
                 "is stored as " + std::string(name(codes->type)) + " (" + std::string(name(e)) +
                     "), but the config's expert_dtype is " + word,
                 Fault::invalid);
  }

  Result<void> read_codes() {
    if (codes->type == StoredType::u32 && (beside(kBiases) != nullptr || has_float_scales())) {
      return wrong(
          *codes,
          "is quantised in MLX's affine mode, with scales and biases, which is not supported; mxfp4, "
          "mxfp8 and nvfp4 are",
          Fault::unsupported);
    }
    const std::optional<Encoding> e =
        stored_encoding({*codes, scales, slot, wanted.quantization, std::max(wanted.merged, 1), is_gguf});
    if (!e || !slot.allowed.has(*e)) {
      std::string what = std::string(name(slot.role)) + " may not be stored as ";
      what += e && scale_block(*e).rows != 0 ? stored_as(*codes, *e) : std::string(name(codes->type));
      return wrong(*codes, what, Fault::unsupported);
    }
    TRY(check_said(*e));
    const std::int64_t row = stored_row(*e, codes->type, slot.cols);
    if (!shaped(*codes, slot.rows, row))
      return wrong(*codes, "is " + described(*codes) + ", must be " + shape_text(slot.rows, row));
    whole.encoding = *e;
    whole.codes = container.bytes(*codes);
    whole.codes_tensor = codes;
    return {};
  }

  bool has_float_scales() const {
    return scales != nullptr && (scales->type == StoredType::f16 || scales->type == StoredType::bf16);
  }

  Result<void> read_scales() {
    const ScaleBlock block = scale_block(whole.encoding);
    if (block.rows == 0) return {};
    take_scales();
    const std::string kind(name(whole.encoding));
    if (scales == nullptr) return wrong(*codes, "no scale, which " + kind + " needs");
    if (more_scales != nullptr) return wrong(*more_scales, "a second scale beside tensor " + scales->name);
    const std::int64_t rows = (slot.rows + block.rows - 1) / block.rows,
                       cols = (slot.cols + block.cols - 1) / block.cols;
    const std::string blocks =
        std::to_string(block.rows) + "x" + std::to_string(block.cols) + " blocks of " + described(*codes);
    if (!shaped(*scales, rows, cols)) {
      return wrong(*scales, "scale is " + described(*scales) + ", must be " + shape_text(rows, cols) +
                                " for " + blocks);
    }
    const std::optional<ScaleType> type = scale_type();
    if (!type) {
      std::string what = "scale may not be stored as " + std::string(name(scales->type)) + " for " + blocks;
      if (scales->type == StoredType::u8) what += ": the config does not say that scale_fmt is ue8m0";
      return wrong(*scales, what, Fault::unsupported);
    }
    whole.scales = container.bytes(*scales);
    whole.scales_tensor = scales;
    whole.scale_type = *type;
    if (*type == ScaleType::f32 && !TRY(even_scales(container, whole)))
      whole.encoding = Encoding::fp8_block128_f32;
    return {};
  }

  std::optional<ScaleType> scale_type() const {
    const StoredType type = scales->type;
    const bool words = codes->type == StoredType::u32;  // MLX, which writes all scales as bytes
    if (whole.encoding == Encoding::nvfp4) {
      if (type == StoredType::f8_e4m3 || (words && type == StoredType::u8)) return ScaleType::e4m3;
      return std::nullopt;
    }
    const bool as_u8 = type == StoredType::u8 && (words || wanted.quantization.scales_ue8m0);
    const bool as_i8 = is_gguf && type == StoredType::i8 && slot.kind == SlotKind::row_scaled_table;
    if (type == StoredType::f8_e8m0 || as_u8 || as_i8) return ScaleType::e8m0;
    const bool as_f32 = type == StoredType::f32 && whole.encoding == Encoding::fp8_block128;
    return as_f32 ? std::optional(ScaleType::f32) : std::nullopt;
  }

  // Of NVFP4. Programs that need none leave it out, but for the one whose files have `weight_scale_2`.
  Result<void> read_factors() {
    factors = {1.0f};
    if (!has_factors(whole.encoding)) return {};
    take_all_beside();
    const StoredTensor* tensor = whole.encoding == Encoding::nvfp4_ggml ? scales : beside(kFactor);
    if (tensor == nullptr) {
      if (whole.encoding == Encoding::nvfp4_ggml || codes->type == StoredType::u32) return {};
      return wrong(*codes, "no weight_scale_2, which NVFP4 needs");
    }
    const std::int64_t many = std::max(wanted.merged, 1);
    if (tensor->type != StoredType::f32 || (tensor->elements() != 1 && tensor->elements() != many)) {
      return wrong(*tensor, "is " + described(*tensor) + ", must be F32 [" + std::to_string(many) +
                                "]: the factor of " + container.place(*codes));
    }
    factors.resize(static_cast<std::size_t>(tensor->elements()));
    TRY(container.read(*tensor, 0, std::as_writable_bytes(std::span(factors))));
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (bad_factor(whole.encoding, factors[i])) {
        return wrong(*tensor, "number " + std::to_string(i) + " is " + std::to_string(factors[i]) +
                                  ": F32 does not hold its product with 2688, NVFP4's largest number");
      }
    }
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
      one.factor = factors[factors.size() == 1 ? 0 : i];
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
  reader.find_scales();
  if (auto read = reader.read_codes(); !read.ok()) {
    reader.take_all_beside();
    if (reader.more_scales != nullptr) {
      return reader.wrong(*reader.more_scales, "a second scale beside tensor " + reader.scales->name);
    }
    return std::move(read).error();
  }
  TRY(reader.read_scales());
  TRY(reader.read_factors());
  TRY(reader.scan());
  return reader.cut();
}

}  // namespace manyspan
