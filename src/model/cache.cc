#include "model/cache.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "device/host_device.h"

namespace manyspan {
namespace {

std::int32_t pages_for(std::int64_t tokens, std::int64_t tokens_per_page) {
  return static_cast<std::int32_t>((tokens + tokens_per_page - 1) / tokens_per_page);
}

std::size_t source_index(const Blueprint& b, LayerId source) {
  const auto at = std::find(b.kv_sources.begin(), b.kv_sources.end(), source.value);
  CHECK(at != b.kv_sources.end(), "not a KV source");
  return at - b.kv_sources.begin();
}

std::int32_t ratio_of(const Blueprint& b, std::int32_t source) { return b.compress_ratios[source]; }

}  // namespace

PageGeometry PageGeometry::of(const Blueprint& b, const Limits& limits) {
  PageGeometry g;
  // A window keeps the last `window` positions and, during a step, that step's rows too.
  const std::int64_t kept =
      std::min<std::int64_t>(std::int64_t{b.window} - 1 + limits.step_rows, limits.context);
  const std::int32_t window_width = pages_for(kept, kernels::kWindowPageRows) + 1;
  g.kinds.push_back({0, window_width * limits.sessions, window_width, kernels::kWindowPageRows});
  std::set<std::int32_t> ratios;
  for (const std::int32_t source : b.kv_sources) ratios.insert(ratio_of(b, source));
  for (const std::int32_t ratio : ratios) {
    const std::int32_t width = std::max(1, pages_for(limits.context / ratio, kernels::kSourcePageRows));
    g.kinds.push_back({ratio, width * limits.sessions, width, kernels::kSourcePageRows * ratio});
  }
  return g;
}

Cache::Cache(Device& device, const Blueprint& blueprint, const Limits& limits)
    : device_(device),
      blueprint_(blueprint),
      limits_(limits),
      geometry_(PageGeometry::of(blueprint, limits)) {
  tables_.resize(geometry_.kinds.size());
  source_pools_.resize(blueprint.kv_sources.size());
  tails_.resize(blueprint.kv_sources.size());
}

Result<std::unique_ptr<Cache>> Cache::create(Device& device, const Blueprint& blueprint,
                                             const Limits& limits) {
  std::unique_ptr<Cache> cache(new Cache(device, blueprint, limits));
  TRY(cache->allocate());
  return cache;
}

Result<void> Cache::allocate() {
  const auto take = [&](std::int64_t bytes) -> Result<Buffer> {
    bytes_ += bytes;
    return device_.allocate(static_cast<std::size_t>(bytes));
  };
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    tables_[k] = TRY(take(std::int64_t{4} * geometry_.kinds[k].width * limits_.sessions));
  }
  window_pool_ = TRY(take(geometry_.kinds[0].pages * window(LayerId{0}).page_bytes));
  for (std::size_t i = 0; i < source_pools_.size(); ++i) {
    const kernels::SourceView view = source(LayerId{blueprint_.kv_sources[i]});
    source_pools_[i] = TRY(take(geometry_.kinds[kind_of(view.ratio)].pages * view.page_bytes()));
    if (view.ratio == 1) continue;
    tails_[i] =
        TRY(take(std::int64_t{4} * limits_.sessions * kernels::kTailTokens * 2 * blueprint_.head_dim));
  }
  return {};
}

std::size_t Cache::kind_of(std::int32_t ratio) const {
  std::size_t kind = 0;
  while (geometry_.kinds[kind].ratio != ratio) ++kind;
  return kind;
}

void Cache::upload(Queue& queue, Device& host, std::size_t kind, std::int32_t slot,
                   std::span<const std::int32_t> pages) {
  const std::int32_t width = geometry_.kinds[kind].width;
  CHECK(static_cast<std::int32_t>(pages.size()) == width && slot < limits_.sessions,
        "one whole row of the table");
  queue.copy(device_, tables_[kind].as<std::int32_t>() + std::int64_t{slot} * width, host, pages.data(),
             pages.size_bytes());
}

kernels::WindowView Cache::window(LayerId layer) const {
  const std::int64_t layer_bytes = kernels::WindowView::layer_bytes(blueprint_.head_dim);
  return {.pool = window_pool_.as<std::byte>(),
          .table = {table(0), geometry_.kinds[0].width},
          .page_bytes = layer_bytes * blueprint_.layers,
          .layer_offset = layer_bytes * layer.value,
          .head_dim = blueprint_.head_dim};
}

kernels::SourceView Cache::source(LayerId source) const {
  const std::size_t i = source_index(blueprint_, source);
  const std::int32_t ratio = ratio_of(blueprint_, source.value);
  const std::size_t kind = kind_of(ratio);
  return {.pool = source_pools_[i].as<std::byte>(),
          .table = {table(kind), geometry_.kinds[kind].width},
          .ratio = ratio,
          .head_dim = blueprint_.head_dim,
          .key_dim = blueprint_.index_dim};
}

kernels::TailView Cache::tail(LayerId source) const {
  return {tails_[source_index(blueprint_, source)].as<float>()};
}

}  // namespace manyspan
