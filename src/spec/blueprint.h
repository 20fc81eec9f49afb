// Blueprint — the model's numbers, as its config.json gives them: what it is, not how it runs.
//
// Read from the official nested keys, or from the flat keys of the official inference config; consistent
// once read, so that everything derived from it (layers, slots, engram_map) needs no further checks.
//
// Errors     unsupported: another model type · invalid: every fault of the file in one message, which names keys
//            but no file: that is the caller's to add, as it is for warnings
// Threads    plain data
// Spec       model.md 1, 3
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace manyspan {

struct Yarn {
  float factor;
  float beta_fast, beta_slow;
  std::int64_t original_length;  // 0: no scaling
};

struct EngramNumbers {
  std::vector<std::int32_t> layers;      // ascending; empty: none
  std::vector<std::int64_t> table_rows;  // one for each layer
  std::int32_t max_ngram = 0;
  std::int64_t vocab_size = 0;  // primes are searched from here on
  std::int32_t heads = 0, head_dim = 0;
  std::int32_t pad_token = 0;
  std::int32_t token_classes = 0;  // compressed ids
};

// DSpark, the draft model.
struct DraftNumbers {
  std::int32_t stages;
  std::int32_t block;  // drafted tokens a turn
  std::int32_t noise_token;
  std::vector<std::int32_t> target_layers;
  std::int32_t markov_rank;
  std::int32_t experts, experts_per_token;
};

struct VisionNumbers {
  std::int32_t layers, hidden, heads, inner, patch, downsample;
  float rope_theta;
  std::int32_t max_image_tokens;
  std::int64_t min_pixels;
  std::optional<float> max_aspect;  // width over height, `max_wh_ratio`
  std::int32_t image_token;
};

// How the checkpoint says that its tensors are stored.
struct Quantization {
  enum class ExpertDtype : std::uint8_t { unsaid, fp4, fp8, bf16 };

  std::string method = "fp8";    // fp8, mxfp8, modelopt, mlx or none
  std::int32_t block_rows = 32;  // 1: every row has scales of its own
  std::int32_t block_cols = 32;
  bool block_said = false;    // the file names the block; else the family's default stands here
  bool scales_ue8m0 = false;  // then scales may be stored as U8
  ExpertDtype expert_dtype = ExpertDtype::unsaid;
};

struct Blueprint {
  std::int32_t vocabulary, hidden, layers;
  std::int32_t heads, head_dim, rope_dim;
  std::int32_t q_rank, o_rank, o_groups;
  std::int32_t window;

  std::int32_t experts, experts_per_token, expert_inner;
  float route_scale, gate_temperature;
  bool normalise_routes;
  float swiglu_limit;

  float norm_eps;
  float rope_theta, compress_rope_theta;
  Yarn yarn;
  std::int64_t context;  // longest supported, in tokens

  std::vector<std::int32_t> compress_ratios;  // one a layer; the draft stages' are checked and dropped
  std::vector<std::int32_t> kv_sources;       // ascending, as index_sources
  std::vector<std::int32_t> index_sources;
  std::int32_t index_heads, index_dim;
  std::int32_t index_rows;             // compressed rows that a token may select
  std::int32_t candidate_source = -1;  // -1: no filter
  std::int32_t candidate_blocks = 0, candidate_block_rows = 0;

  std::int32_t streams;  // of the residual
  std::int32_t sinkhorn_iterations;
  float mix_eps;

  EngramNumbers engram;
  std::optional<DraftNumbers> draft;
  std::optional<VisionNumbers> vision;

  std::int32_t bos_token, eos_token, pad_token;
  Quantization quantization;

  // What the file says that this program does not know, one sentence each.
  std::vector<std::string> warnings;

  std::vector<std::int32_t> draft_targets() const {
    return draft ? draft->target_layers : std::vector<std::int32_t>{};
  }
};

// Of the text of a config.json.
Result<Blueprint> read_blueprint(std::string_view config);

}  // namespace manyspan
