#include "model/cache.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "spec/layers.h"

namespace manyspan {
namespace {

std::int32_t pages_for(std::int64_t tokens, std::int64_t tokens_per_page) {
  return static_cast<std::int32_t>((tokens + tokens_per_page - 1) / tokens_per_page);
}

std::int32_t ratio_of(const Blueprint& b, std::int32_t source) { return b.compress_ratios[source]; }

}  // namespace

PageGeometry PageGeometry::of(const Blueprint& b, const Limits& limits) {
  PageGeometry g;
  std::set<std::int32_t> ratios;
  for (const std::int32_t source : b.kv_sources) ratios.insert(ratio_of(b, source));
  // What the next token attends to; before it the spare; before that, up to a group to begin at its first token.
  g.window_tokens = std::int64_t{b.window} - 1 + limits.spare_window;
  if (!ratios.empty()) g.window_tokens += *ratios.rbegin() - 1;
  // During a step, that step's rows too.
  const std::int64_t kept = std::min<std::int64_t>(g.window_tokens + limits.step_rows, limits.context);
  const std::int32_t window_width = pages_for(kept, kernels::kWindowPageRows) + 1;
  g.kinds.push_back({0, window_width * limits.sessions, window_width, kernels::kWindowPageRows});
  for (const std::int32_t ratio : ratios) {
    const std::int32_t width = std::max(1, pages_for(limits.context / ratio, kernels::kSourcePageRows));
    const std::int32_t page_tokens = kernels::kSourcePageRows * ratio;
    // Some more than all sessions can hold: a replay works on copies of the pages that its step writes.
    const std::int32_t copies = pages_for(limits.step_rows, page_tokens) + 1;
    g.kinds.push_back({ratio, width * limits.sessions + copies, width, page_tokens});
  }
  return g;
}

std::size_t PageGeometry::kind_of(std::int32_t ratio) const {
  const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.ratio == ratio; });
  CHECK(at != kinds.end(), "a ratio of the model");
  return at - kinds.begin();
}

std::size_t source_index(const Blueprint& b, LayerId source) {
  const auto at = std::find(b.kv_sources.begin(), b.kv_sources.end(), source.value);
  CHECK(at != b.kv_sources.end(), "a KV source");
  return at - b.kv_sources.begin();
}

kernels::SourceView source_shape(const Blueprint& b, LayerId source) {
  return {.pool = nullptr,
          .table = {},
          .ratio = ratio_of(b, source.value),
          .head_dim = b.head_dim,
          .key_dim = b.index_dim};
}

Cache::Cache(Device& device, const Blueprint& blueprint, const StageLayers& layers, const Limits& limits,
             std::int32_t table_sets)
    : device_(device),
      blueprint_(blueprint),
      layers_(layers),
      limits_(limits),
      geometry_(PageGeometry::of(blueprint, limits)),
      table_sets_(table_sets) {
  tables_.resize(geometry_.kinds.size());
  source_pools_.resize(blueprint.kv_sources.size());
  tails_.resize(blueprint.kv_sources.size());
}

Result<std::unique_ptr<Cache>> Cache::create(Device& device, const Blueprint& blueprint,
                                             const StageLayers& layers, const Limits& limits,
                                             std::int32_t table_sets) {
  std::unique_ptr<Cache> cache(new Cache(device, blueprint, layers, limits, table_sets));
  TRY(cache->allocate());
  return cache;
}

std::int64_t Cache::table_bytes(const PageGeometry& geometry, const Limits& limits, std::int32_t table_sets) {
  std::int64_t entries = 0;
  for (const PageGeometry::Kind& kind : geometry.kinds) entries += kind.width;
  return std::int64_t{4} * entries * limits.sessions * table_sets;
}

Result<void> Cache::allocate() {
  const auto take = [&](std::int64_t bytes) -> Result<Buffer> {
    bytes_ += bytes;
    return device_.allocate(static_cast<std::size_t>(bytes));
  };
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    tables_[k] = TRY(take(std::int64_t{4} * geometry_.kinds[k].width * limits_.sessions * table_sets_));
  }
  window_pool_ = TRY(take(geometry_.kinds[0].pages * window_page_bytes()));
  for (const LayerSchedule& plan : schedule_of(blueprint_).layers) {
    if (plan.ratio == 0 || !layers_.has(plan.layer)) continue;
    const std::size_t i = source_index(blueprint_, plan.kv_source);
    const kernels::SourceView view = source(plan.kv_source);
    if (view.pool == nullptr) {
      source_pools_[i] = TRY(take(geometry_.kinds[geometry_.kind_of(view.ratio)].pages * view.page_bytes()));
    }
    if (plan.is_kv_source && view.ratio > 1) tails_[i] = TRY(take(limits_.sessions * tail_bytes()));
  }
  return {};
}

std::int64_t Cache::window_page_bytes() const {
  return kernels::WindowView::layer_bytes(blueprint_.head_dim) * layers_.count();
}

std::int64_t Cache::tail_bytes() const {
  return std::int64_t{sizeof(float)} * kernels::kTailTokens * 2 * blueprint_.head_dim;
}

void Cache::copy_page(Queue& queue, std::size_t kind, std::int32_t from, std::int32_t to) const {
  const auto copy = [&](const Buffer& pool, std::int64_t bytes) {
    queue.copy(device_, pool.as<std::byte>() + to * bytes, device_, pool.as<std::byte>() + from * bytes,
               static_cast<std::size_t>(bytes));
  };
  if (kind == 0) return copy(window_pool_, window_page_bytes());
  for (std::size_t i = 0; i < source_pools_.size(); ++i) {
    const kernels::SourceView view = source(LayerId{blueprint_.kv_sources[i]});
    if (view.pool != nullptr && geometry_.kind_of(view.ratio) == kind)
      copy(source_pools_[i], view.page_bytes());
  }
}

bool Cache::reads(std::size_t kind) const {
  return kind == 0 || std::ranges::any_of(blueprint_.kv_sources, [&](std::int32_t layer) {
           const kernels::SourceView view = source(LayerId{layer});
           return view.pool != nullptr && geometry_.kind_of(view.ratio) == kind;
         });
}

void Cache::copy_tails(Queue& queue, std::int32_t from_slot, std::int32_t to_slot) const {
  for (const std::int32_t source : blueprint_.kv_sources) {
    const auto from = part({StatePart::Of::tail, {source}, from_slot});
    const auto to = part({StatePart::Of::tail, {source}, to_slot});
    if (!from.empty()) queue.copy(device_, to.data(), device_, from.data(), from.size());
  }
}

std::span<std::byte> Cache::part(const StatePart& part) const {
  const auto bytes = [](std::byte* base, std::int64_t at, std::int64_t each) {
    return std::span(base + at * each, static_cast<std::size_t>(each));
  };
  if (part.of == StatePart::Of::window) {
    if (!layers_.has(part.layer)) return {};
    const kernels::WindowView view = window(part.layer);
    std::byte* page = view.pool + part.at * view.page_bytes + view.layer_offset;
    return bytes(page, 0, kernels::WindowView::layer_bytes(view.head_dim));
  }
  const kernels::SourceView view = source(part.layer);
  if (part.of == StatePart::Of::source) {
    return view.pool == nullptr ? std::span<std::byte>() : bytes(view.pool, part.at, view.page_bytes());
  }
  float* tails = tail(part.layer).a_g;
  if (tails == nullptr) return {};
  return bytes(reinterpret_cast<std::byte*>(tails), part.at, tail_bytes());
}

void Cache::upload(Queue& queue, Device& host, std::size_t kind, std::int32_t slot,
                   std::span<const std::int32_t> pages) {
  const std::int32_t width = geometry_.kinds[kind].width;
  CHECK(static_cast<std::int32_t>(pages.size()) == width && slot < limits_.sessions,
        "one whole row of the table");
  if (!reads(kind)) return;
  queue.copy(device_, table(kind) + std::int64_t{slot} * width, host, pages.data(), pages.size_bytes());
}

kernels::WindowView Cache::window(LayerId layer) const {
  const std::int64_t layer_bytes = kernels::WindowView::layer_bytes(blueprint_.head_dim);
  return {.pool = window_pool_.as<std::byte>(),
          .table = {table(0), geometry_.kinds[0].width},
          .page_bytes = window_page_bytes(),
          .layer_offset = layer_bytes * layers_.place(layer),
          .head_dim = blueprint_.head_dim};
}

kernels::SourceView Cache::source(LayerId source) const {
  kernels::SourceView view = source_shape(blueprint_, source);
  const std::size_t kind = geometry_.kind_of(view.ratio);
  view.pool = source_pools_[source_index(blueprint_, source)].as<std::byte>();
  view.table = {table(kind), geometry_.kinds[kind].width};
  return view;
}

kernels::TailView Cache::tail(LayerId source) const {
  return {tails_[source_index(blueprint_, source)].as<float>()};
}

}  // namespace manyspan
