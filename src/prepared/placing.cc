#include "prepared/placing.h"

#include <cstring>

#include "base/check.h"
#include "kernels/layout.h"
#include "tensor/e8m0.h"

namespace manyspan {

// A checkpoint's matrix as the layout code reads it; scales that came as f32 are turned into E8M0 on the way.
struct Placing::Plain {
  Weight weight;
  std::vector<std::byte> scales;
};

Placing::Plain Placing::plain_weight(const MatrixSource& source) {
  Plain p{{.codes = source.codes.data(),
           .scales = source.scales.empty() ? nullptr : source.scales.data(),
           .rows = static_cast<std::int32_t>(source.rows),
           .cols = static_cast<std::int32_t>(source.cols),
           .encoding = source.encoding},
          {}};
  if (source.scale_type == ScaleType::f32) {
    p.scales.resize(source.scales.size() / sizeof(float));
    for (std::size_t i = 0; i < p.scales.size(); ++i) {
      float scale;
      std::memcpy(&scale, source.scales.data() + i * sizeof scale, sizeof scale);
      p.scales[i] = std::byte{e8m0_ceil(scale)};  // exact: assembly took powers of two only
    }
    p.weight.scales = p.scales.data();
  }
  read_bytes_ += static_cast<std::int64_t>(source.codes.size() + source.scales.size());
  return p;
}

const std::byte* Placing::put(const std::byte* bytes, std::size_t count) {
  if (failed_) return nullptr;
  if (queue_ == nullptr) {
    auto queue = device_.queue(QueueKind::copy);
    if (!queue.ok()) return failed_ = std::move(queue).error(), nullptr;
    queue_ = std::move(queue).value();
  }
  auto buffer = device_.allocate(count);
  if (!buffer.ok()) return failed_ = std::move(buffer).error(), nullptr;
  into_.storage.push_back(std::move(buffer).value());
  into_.bytes += static_cast<std::int64_t>(count);
  std::byte* to = into_.storage.back().as<std::byte>();
  queue_->copy(device_, to, host_, bytes, count);
  if (auto copied = queue_->finish(); !copied.ok())
    failed_ = std::move(copied).error();  // staging is used again
  return to;
}

Weight Placing::place(std::int64_t count, const Weight& one,
                      const std::function<void(std::int64_t, std::byte*, std::byte*)>& fill) {
  if (failed_) return {};
  Weight w = one;
  const std::int64_t codes = kernels::arranged_code_bytes(one), scales = kernels::arranged_scale_bytes(one);
  const std::int64_t next_codes = (codes + 63) / 64 * 64, next_scales = (scales + 63) / 64 * 64;
  staging_.resize(std::max<std::size_t>(staging_.size(), count * (next_codes + next_scales)));
  std::byte* code_plane = staging_.data();
  std::byte* scale_plane = code_plane + count * next_codes;
  host_.workers().for_each(count, [&](std::int64_t i, int) {
    fill(i, code_plane + i * next_codes, scale_plane + i * next_scales);
  });
  w.codes = put(code_plane, count * next_codes);
  w.scales = scales == 0 ? nullptr : put(scale_plane, count * next_scales);
  if (count > 1) w.next_codes = next_codes, w.next_scales = next_scales;
  return w;
}

Weight Placing::rows(Role role, LayerId layer, std::int64_t first, std::int64_t count) {
  const MatrixSource& all = weights_.at(role, layer);
  MatrixSource part = all;
  const std::int64_t row_bytes = static_cast<std::int64_t>(all.codes.size()) / all.rows;
  part.rows = count;
  part.codes = all.codes.subspan(first * row_bytes, count * row_bytes);
  const std::int64_t rows_a_scale = all.encoding == Encoding::fp8_block32    ? 32
                                    : all.encoding == Encoding::fp8_block128 ? 128
                                                                             : 1;
  if (!all.scales.empty()) {
    const std::int64_t down = (all.rows + rows_a_scale - 1) / rows_a_scale;
    const std::int64_t scale_row = static_cast<std::int64_t>(all.scales.size()) / down;
    if (first % rows_a_scale != 0 || (first + count != all.rows && count % rows_a_scale != 0)) {
      if (!failed_) {
        failed_ = Error(Fault::unsupported, all.place + ": groups of " + std::to_string(count) +
                                                " rows cut through scale blocks of " +
                                                std::to_string(rows_a_scale));
      }
      return {};
    }
    part.scales = all.scales.subspan(first / rows_a_scale * scale_row,
                                     (count + rows_a_scale - 1) / rows_a_scale * scale_row);
  }
  const Plain from = plain_weight(part);
  const Weight to = kernels::arranged(from.weight, table_.tiling, RowOrder::natural);
  return place(1, to, [&](std::int64_t, std::byte* codes, std::byte* scales) {
    kernels::arrange(from.weight, to, codes, scales);
  });
}

Weight Placing::matrix(Role role, LayerId layer) {
  return rows(role, layer, 0, weights_.at(role, layer).rows);
}

Weight Placing::plain(Role role, LayerId layer) {
  const Plain from = plain_weight(weights_.at(role, layer));
  const Weight to = kernels::arranged(from.weight, Tiling::plain, RowOrder::natural);
  return place(1, to, [&](std::int64_t, std::byte* codes, std::byte* scales) {
    kernels::arrange(from.weight, to, codes, scales);
  });
}

std::vector<Placing::Plain> Placing::experts(Role role, LayerId layer, std::int32_t count,
                                             Encoding encoding) {
  std::vector<Plain> all;
  for (std::int32_t e = 0; e < count; ++e) {
    const MatrixSource& source = weights_.at(role, layer, e);
    if (source.encoding != encoding && !failed_) {
      failed_ =
          Error(Fault::unsupported, source.place + ": " + std::string(name(source.encoding)) +
                                        " where the layer's first expert has " + std::string(name(encoding)));
    }
    all.push_back(plain_weight(source));
  }
  return all;
}

Weight Placing::each(Role role, LayerId layer, std::int32_t count) {
  const std::vector<Plain> from = experts(role, layer, count, weights_.at(role, layer).encoding);
  const Weight to = kernels::arranged(from[0].weight, table_.tiling, RowOrder::natural);
  return place(count, to, [&](std::int64_t e, std::byte* codes, std::byte* scales) {
    kernels::arrange(from[e].weight, to, codes, scales);
  });
}

Weight Placing::pairs(Role first, Role second, LayerId layer, std::int32_t count) {
  const Encoding encoding = weights_.at(first, layer).encoding;
  const std::vector<Plain> firsts = experts(first, layer, count, encoding),
                           seconds = experts(second, layer, count, encoding);
  const Weight to = kernels::arranged_pair(firsts[0].weight, table_.tiling, table_.expert_order);
  return place(count, to, [&](std::int64_t e, std::byte* codes, std::byte* scales) {
    kernels::arrange_pair(firsts[e].weight, seconds[e].weight, to, codes, scales);
  });
}

std::vector<float> Placing::decoded(const MatrixSource& source) {
  const Plain from = plain_weight(source);
  const Weight to = kernels::arranged(from.weight, Tiling::plain, RowOrder::natural);
  Weight placed = to;
  std::vector<std::byte> codes(kernels::arranged_code_bytes(to)), scales(kernels::arranged_scale_bytes(to));
  kernels::arrange(from.weight, to, codes.data(), scales.data());
  placed.codes = codes.data();
  placed.scales = scales.empty() ? nullptr : scales.data();
  std::vector<float> out(source.rows * source.cols);
  for (std::int64_t r = 0; r < source.rows; ++r)
    values(placed, r, 0, source.cols, out.data() + r * source.cols);
  return out;
}

const float* Placing::floats(std::span<const float> values) {
  return reinterpret_cast<const float*>(
      put(reinterpret_cast<const std::byte*>(values.data()), values.size_bytes()));
}

const float* Placing::floats(Role role, LayerId layer) {
  const MatrixSource* source = weights_.find(role, layer);
  return source == nullptr ? nullptr : floats(decoded(*source));
}

const Bf16* Placing::bf16s(Role role, LayerId layer) {
  const MatrixSource* source = weights_.find(role, layer);
  if (source == nullptr) return nullptr;
  std::vector<Bf16> narrow;
  for (const float f : decoded(*source)) narrow.push_back(to_bf16(f));
  return reinterpret_cast<const Bf16*>(
      put(reinterpret_cast<const std::byte*>(narrow.data()), narrow.size() * sizeof(Bf16)));
}

Result<void> Placing::done() {
  if (failed_) return std::move(*failed_);
  return {};
}

}  // namespace manyspan
