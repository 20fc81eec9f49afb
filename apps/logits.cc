#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/core.h>
#include <numeric>

#include "apps/command.h"
#include "apps/engine_options.h"
#include "apps/json_text.h"
#include "apps/logits_input.h"
#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/output_file.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/token_ids.h"
#include "container/safetensors_write.h"
#include "engine/taps.h"

namespace manyspan::app {
namespace {

constexpr std::int64_t kMostChunk = 65536;  // rows of one step
constexpr std::uint64_t kMostPrompt = std::uint64_t{1} << 40;

StoredType stored_type(TapType type) {
  switch (type) {
    case TapType::bf16:
      return StoredType::bf16;
    case TapType::f32:
      return StoredType::f32;
    case TapType::i32:
      return StoredType::i32;
    case TapType::i64:
      return StoredType::i64;
    case TapType::u8:
      return StoredType::u8;
  }
  return StoredType::u8;
}

// Borrows from `logits`.
std::vector<TensorToWrite> tensors_of(const Logits& logits) {
  std::vector<TensorToWrite> tensors;
  const auto add = [&](const char* key, const std::vector<float>& rows) {
    if (rows.empty()) return;
    const auto count = static_cast<std::int64_t>(rows.size()) / logits.vocabulary;
    tensors.push_back({key, StoredType::f32, {count, logits.vocabulary}, std::as_bytes(std::span(rows))});
  };
  add("prefill.logits", logits.prefill);
  add("decode.logits", logits.decode);
  for (const auto& [key, tap] : logits.taps) {
    tensors.push_back({key, stored_type(tap.type), tap.shape, tap.bytes});
  }
  return tensors;
}

class LogitsOfEveryPosition final : public Command {
 public:
  About about() const override {
    return {"logits", "Write the logits of every position, and named intermediates, to a file",
            "  manyspan logits models/first-light --ids ids.json --out logits.safetensors --numerics strict\n"
            "  manyspan logits --ids ids.json --prompt 40 --chunks 16,24 --taps attn_in,L6.selection --out "
            "out.safetensors\n"
            "  manyspan logits --ids ids.json --out out.safetensors --device sim:3 --layer-ends 4,8,12"};
  }

  void declare(CLI::App& options) override {
    engine_.declare(options);
    options.add_option("--ids", ids_, "A JSON list of ids, or an object with ids and maybe prompt_len")
        ->type_name("FILE");
    options.add_option("--out", out_, "The safetensors file to write; one that is there is replaced")
        ->type_name("FILE");
    options
        .add_option("--prompt", prompt_,
                    "The first N ids are the prompt, the rest are fed one at a time; 0: as the "
                    "file says, else all")
        ->transform(whole_number(0, kMostPrompt))
        ->type_name("N");
    options
        .add_option("--chunks", chunks_,
                    "Lengths in which the prompt is run, as 3,5,8; their sum is the prompt")
        ->check(not_empty())
        ->type_name("N,...");
    options.add_flag(
        "--cone", cone_,
        "Run early tokens of the prompt up to the last KV source only, as run and chat do, and leave "
        "out what is then not computed");
    options.add_option("--taps", taps_, "Intermediates of the prompt to write too, as attn_in,L2.selection")
        ->check(not_empty())
        ->type_name("NAME,...");
  }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    if (ids_.empty()) return misuse("--ids: name a file");
    if (out_.empty()) return misuse("--out: name a file");
    std::vector<std::string> read = engine_.read_files(common);
    read.push_back(ids_);
    TRY(may_be_written("--out", out_, engine_.model, read));
    LogitsRequest request;
    if (!chunks_.empty()) request.chunks = TRY(read_chunks(chunks_));
    if (!taps_.empty()) request.taps = TRY(read_names(taps_));
    request.cone = cone_;
    EngineOptions wishes;
    wishes.every_logit = true;
    if (!request.chunks.empty()) {
      const std::int64_t longest = *std::max_element(request.chunks.begin(), request.chunks.end());
      if (longest > kMostChunk)
        return misuse(fmt::format("--chunks: {} is more than {}", longest, kMostChunk));
      wishes.step_rows = static_cast<int>(longest);
    }
    const auto started = std::chrono::steady_clock::now();
    const auto engine = TRY(engine_.open(common, wishes));
    LogitsInput input = TRY(read_fitting(*engine));
    const auto count = static_cast<std::int64_t>(input.ids.size());
    if (prompt_ > count) return misuse(fmt::format("--prompt: {} is more than the {} ids", prompt_, count));
    request.prompt = prompt_ > 0 ? prompt_ : input.prompt.value_or(count);
    request.ids = std::move(input.ids);
    TRY(check(request, engine->blueprint()));
    const Logits logits = TRY(engine->logits(request, common.cancel));
    if (common.cancel->requested()) return {};
    TRY(of_writing(write_safetensors(out_, tensors_of(logits))));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    return tell(common, request, logits, seconds);
  }

 private:
  // What the engine would refuse, said of the option.
  Result<void> check(const LogitsRequest& request, const Blueprint& blueprint) const {
    const auto sum = std::accumulate(request.chunks.begin(), request.chunks.end(), std::int64_t{0});
    if (!request.chunks.empty() && sum != request.prompt) {
      return misuse(
          fmt::format("--chunks: they add up to {} tokens, the prompt has {}", sum, request.prompt));
    }
    auto taps = chosen_taps(request.taps, blueprint, schedule_of(blueprint));
    if (!taps.ok()) return std::move(taps).error().within("--taps");
    return {};
  }

  // Ids that the model knows, no more than its context.
  Result<LogitsInput> read_fitting(const Engine& engine) const {
    LogitsInput input = TRY(read_logits_input(ids_));
    Result<void> known = within_vocabulary(input.ids, engine.blueprint().vocabulary);
    if (!known.ok()) return std::move(known).error().within("ids").within(ids_);
    const auto count = static_cast<std::int64_t>(input.ids.size());
    const std::int64_t context = engine.facts().context;
    if (count <= context) return input;
    if (engine_.context > 0) {
      return misuse(fmt::format("--context: {} is less than the {} ids of {}", context, count, ids_));
    }
    return Error(Fault::corrupt,
                 fmt::format("{}: ids: {} of them, more than the context of {}", ids_, count, context));
  }

  Result<void> tell(const Common& common, const LogitsRequest& request, const Logits& logits,
                    double seconds) const {
    const auto decoded = static_cast<std::int64_t>(request.ids.size()) - request.prompt;
    if (common.json) {
      nlohmann::ordered_json document = {
          {"out", out_},       {"prompt", request.prompt},        {"first", logits.first},
          {"decode", decoded}, {"vocabulary", logits.vocabulary}, {"taps", nlohmann::ordered_json::array()},
          {"seconds", seconds}};
      for (const auto& [key, tap] : logits.taps) document["taps"].push_back(key);
      return write_output(json_text(document));
    }
    if (!common.quiet) {
      write_error(fmt::format("{}: {} prompt and {} decoded positions of {} logits, {} taps, {:.1f} s\n",
                              one_line(out_), request.prompt - logits.first, decoded, logits.vocabulary,
                              logits.taps.size(), seconds));
    }
    return {};
  }

  EngineChoices engine_;
  std::string ids_, out_, chunks_, taps_;
  std::int64_t prompt_ = 0;
  bool cone_ = false;
};

}  // namespace

std::unique_ptr<Command> logits_command() { return std::make_unique<LogitsOfEveryPosition>(); }

}  // namespace manyspan::app
