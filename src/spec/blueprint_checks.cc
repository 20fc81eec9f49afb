#include "spec/blueprint_checks.h"

#include <algorithm>
#include <numeric>

#include "spec/engram_map.h"

namespace manyspan {
namespace {

struct Checker {
  const Blueprint& b;
  const std::vector<std::int32_t>& ratios;
  std::vector<std::string>& faults;

  // Notes `name` and the rule it breaks: "head_dim is 48, must be a multiple of 32".
  void require(bool holds, std::string_view name, std::int64_t value, const std::string& rule) {
    if (!holds) faults.push_back(std::string(name) + " is " + std::to_string(value) + ", must be " + rule);
  }

  void multiple(std::string_view name, std::int64_t value, std::int64_t of) {
    require(value % of == 0, name, value, "a multiple of " + std::to_string(of));
  }

  // Strictly ascending; ids are already in bounds of what a layer may be.
  bool layer_list(std::string_view name, const std::vector<std::int32_t>& list) {
    bool good = true;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const bool inside = list[i] < b.layers, ascends = i == 0 || list[i] > list[i - 1];
      const std::string entry = std::string(name) + "[" + std::to_string(i) + "]";
      require(inside, entry, list[i], "below num_hidden_layers, " + std::to_string(b.layers));
      if (!ascends)
        require(false, entry, list[i], "above the entry before it, " + std::to_string(list[i - 1]));
      good = good && inside && ascends;
    }
    return good;
  }

  void token(std::string_view name, std::int32_t id) {
    require(id < b.vocabulary, name, id, "below vocab_size, " + std::to_string(b.vocabulary));
  }

  // Formats hold 32 columns to a scale, activations as well as weights.
  void widths() {
    multiple("hidden_size", b.hidden, 32);
    multiple("head_dim", b.head_dim, 32);
    multiple("q_lora_rank", b.q_rank, 32);
    multiple("moe_intermediate_size", b.expert_inner, 32);
    multiple("index_head_dim", b.index_dim, 32);
    multiple("o_groups x o_lora_rank", std::int64_t{b.o_groups} * b.o_rank, 32);
    multiple("qk_rope_head_dim", b.rope_dim, 2);
    const std::string narrowest = std::to_string(std::min(b.head_dim, b.index_dim));
    require(b.rope_dim <= std::min(b.head_dim, b.index_dim), "qk_rope_head_dim", b.rope_dim,
            "at most head_dim and index_head_dim, " + narrowest);
    multiple("num_attention_heads", b.heads, b.o_groups);
    const std::int64_t heads_wide = std::int64_t{b.heads} * b.head_dim,
                       streams_wide = std::int64_t{b.streams} * b.hidden;
    constexpr std::int64_t kWidest = std::int64_t{1} << 22;
    require(heads_wide <= kWidest, "num_attention_heads x head_dim", heads_wide,
            "at most " + std::to_string(kWidest));
    require(streams_wide <= kWidest, "hc_mult x hidden_size", streams_wide,
            "at most " + std::to_string(kWidest));
    require(b.experts_per_token <= b.experts, "num_experts_per_tok", b.experts_per_token,
            "at most n_routed_experts, " + std::to_string(b.experts));
    const std::int64_t all = std::int64_t{b.experts} * b.layers;
    require(all <= kMostExperts, "n_routed_experts x num_hidden_layers", all,
            "at most " + std::to_string(kMostExperts));
    token("bos_token_id", b.bos_token), token("eos_token_id", b.eos_token),
        token("pad_token_id", b.pad_token);
  }

  // Else fewer rows than index_topk might survive the filter.
  void candidate_rule() {
    if (b.candidate_source < 0) return;
    const std::int64_t surely = (std::int64_t{b.candidate_blocks} - 1) * b.candidate_block_rows + 1;
    require(surely >= b.index_rows, "(candidate_topk_blocks - 1) x candidate_block_size + 1", surely,
            "at least index_topk, " + std::to_string(b.index_rows));
  }

  void sources() {
    const std::int32_t stages = b.draft ? b.draft->stages : 0;
    const auto entries = static_cast<std::int64_t>(ratios.size());
    require(entries == std::int64_t{b.layers} + stages, "the length of compress_ratios", entries,
            "num_hidden_layers + num_nextn_predict_layers, " + std::to_string(b.layers) + " + " +
                std::to_string(stages));
    const bool kv_list = layer_list("kv_source_layer_ids", b.kv_sources),
               index_list = layer_list("index_source_layer_ids", b.index_sources);
    if (entries < b.layers || !kv_list || !index_list) return;
    for (std::size_t i = static_cast<std::size_t>(b.layers); i < ratios.size(); ++i) {
      require(ratios[i] == 0, "compress_ratios[" + std::to_string(i) + "]", ratios[i],
              "0: it is a draft stage");
    }
    for (const std::int32_t l : b.kv_sources) source("kv_source_layer_ids", l);
    for (const std::int32_t l : b.index_sources) source("index_source_layer_ids", l);
    for (std::int32_t l = 0; l < b.layers; ++l) reader(l);
    candidates();
  }

  std::int32_t ratio(std::int32_t l) const { return ratios[static_cast<std::size_t>(l)]; }

  void source(std::string_view list, std::int32_t l) {
    if (ratio(l) == 0)
      faults.push_back(std::string(list) + " names layer " + std::to_string(l) +
                       ", whose compress_ratio is 0");
  }

  // The last source that is not after l, or -1.
  static std::int32_t before(const std::vector<std::int32_t>& sources, std::int32_t l) {
    const auto after = std::upper_bound(sources.begin(), sources.end(), l);
    return after == sources.begin() ? -1 : *(after - 1);
  }

  void reader(std::int32_t l) {
    if (ratio(l) == 0) return;
    const std::int32_t kv = before(b.kv_sources, l), index = before(b.index_sources, l);
    const std::string layer = "layer " + std::to_string(l);
    if (kv < 0) {
      faults.push_back(layer + " has compress_ratio " + std::to_string(ratio(l)) +
                       " and no layer of kv_source_layer_ids at or before it");
    } else if (ratio(kv) != ratio(l)) {
      faults.push_back(layer + " has compress_ratio " + std::to_string(ratio(l)) + ", its KV source " +
                       std::to_string(kv) + " has " + std::to_string(ratio(kv)));
    }
    if (index < kv || index < 0) {
      faults.push_back(layer + ": no layer of index_source_layer_ids selects rows of its KV source");
    }
  }

  void candidates() {
    const std::int32_t s = b.candidate_source;
    if (s < 0) return;
    require(s < b.layers, "candidate_source_layer_id", s,
            "below num_hidden_layers, " + std::to_string(b.layers));
    if (s >= b.layers) return;
    const bool is_source = std::binary_search(b.index_sources.begin(), b.index_sources.end(), s);
    require(is_source, "candidate_source_layer_id", s, "one of index_source_layer_ids");
    for (const std::int32_t later : b.index_sources) {
      if (later <= s || before(b.kv_sources, later) == before(b.kv_sources, s)) continue;
      faults.push_back("index source " + std::to_string(later) +
                       " does not share its KV source with the candidate source " + std::to_string(s));
    }
  }

  void engram() {
    const EngramNumbers& e = b.engram;
    layer_list("engram_layer_ids", e.layers);
    multiple("engram_head_dim", e.head_dim, 32);
    token("engram_pad_token_id", e.pad_token);
    require(e.token_classes <= b.vocabulary, "engram_compressed_vocab_size", e.token_classes,
            "at most vocab_size, " + std::to_string(b.vocabulary));
    const auto tables = static_cast<std::int64_t>(e.table_rows.size()),
               layers = static_cast<std::int64_t>(e.layers.size());
    require(tables == layers, "the length of engram_num_embeddings", tables,
            "that of engram_layer_ids, " + std::to_string(layers));
    if (tables != layers) return;
    const auto primes = engram_primes(e.layers.size(), e.max_ngram, e.heads, e.vocab_size);
    for (std::size_t i = 0; i < primes.size(); ++i) {
      const std::int64_t rows = std::accumulate(primes[i].begin(), primes[i].end(), std::int64_t{0});
      require(e.table_rows[i] == rows, "engram_num_embeddings[" + std::to_string(i) + "]", e.table_rows[i],
              std::to_string(rows) +
                  ", the sum of the primes that engram_vocab_size, engram_max_ngram_size and engram_n_heads "
                  "give");
    }
  }

  void extras() {
    if (b.draft) {
      layer_list("dspark_target_layer_ids", b.draft->target_layers);
      token("dspark_noise_token_id", b.draft->noise_token);
      require(!b.draft->target_layers.empty(), "the length of dspark_target_layer_ids", 0, "at least 1");
      require(b.draft->experts_per_token <= b.draft->experts, "dspark_num_experts_per_tok",
              b.draft->experts_per_token,
              "at most dspark_n_routed_experts, " + std::to_string(b.draft->experts));
    }
    if (b.vision) {
      token("image_token_id", b.vision->image_token);
      multiple("vision_config.hidden_size", b.vision->hidden, std::int64_t{4} * b.vision->heads);
    }
  }
};

}  // namespace

void check_blueprint(const Blueprint& blueprint, const std::vector<std::int32_t>& ratios,
                     std::vector<std::string>& faults) {
  Checker check{blueprint, ratios, faults};
  check.widths();
  check.sources();
  check.candidate_rule();
  check.engram();
  check.extras();
}

}  // namespace manyspan
