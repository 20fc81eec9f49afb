#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <fmt/core.h>
#include <optional>
#include <random>
#include <string_view>
#include <thread>

#include "apps/command.h"
#include "apps/engine_options.h"
#include "apps/json_text.h"
#include "apps/machine_facts.h"
#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/output_file.h"
#include "apps/read_speed.h"
#include "apps/stage_trace.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/weight_traffic.h"
#include "engine/checkpoint.h"

namespace manyspan::app {
namespace {

constexpr std::int64_t kMemoryBytes = std::int64_t{256}
                                      << 20;  // more than any cache of this machine's kind holds
constexpr double kLeastStageTime = 0.1;       // milliseconds; less is lost in waking up
constexpr std::int64_t kDecoded = 64;         // tokens of one measurement
constexpr std::int64_t kMostBatch = 256, kMostLength = std::int64_t{1} << 30, kMostRows = 65536;

struct Measured {
  std::vector<double> values;

  double median() {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }
  nlohmann::ordered_json spread() const {
    return {*std::min_element(values.begin(), values.end()), *std::max_element(values.begin(), values.end())};
  }
};

struct Roof {
  double model = 0;   // bytes a second, read from memory or cache as weights of this size are
  double memory = 0;  // from memory
};

// Another prompt for every seed, from its first id on.
std::vector<TokenId> random_prompt(std::int64_t length, std::uint32_t seed, std::int32_t vocabulary) {
  std::mt19937 random(seed);
  std::vector<TokenId> ids;
  for (std::int64_t i = 0; i < length; ++i) {
    ids.push_back({static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocabulary))});
  }
  return ids;
}

// "1,8": what is measured one after another.
Result<std::vector<std::int64_t>> read_numbers(std::string_view option, std::string_view list,
                                               std::int64_t most) {
  std::vector<std::int64_t> numbers;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    std::int64_t number = 0;
    const auto [rest, fault] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (fault != std::errc() || rest != item.data() + item.size() || number < 1 || number > most)
      return misuse(fmt::format("{}: \"{}\" is no number from 1 to {}", option, item.substr(0, 40), most));
    numbers.push_back(number);
    if (comma == std::string_view::npos) return numbers;
    list.remove_prefix(comma + 1);
  }
}

class Bench final : public Command {
 public:
  About about() const override {
    return {"bench", "Measure prefill, decode and the time to the first token, as JSON lines",
            "  manyspan bench --quick\n"
            "  manyspan bench models/first-light --threads 2\n"
            "  manyspan bench --quick --device sim:2\n"
            "  manyspan bench --quick --device sim:8 --stage-time 5 --batch 1,8 --trace trace.json\n"
            "  manyspan bench --device sim:8 --stage-time 5 --prompts 800 --step-rows 16 --no-cone"};
  }

  void declare(CLI::App& options) override {
    engine_options_.declare(options);
    options.add_flag("--quick", quick_, "One length and one depth, three repetitions");
    options.add_option("--repetitions", repetitions_, "Measurements of each kind; 0: 5, or 3 with --quick")
        ->transform(whole_number(0, 1000))
        ->type_name("N");
    options.add_option("--batch", batches_, "Sessions that decode at once, one measurement for each number")
        ->type_name("N,N...");
    options
        .add_option("--prompts", prompts_,
                    "Lengths of the prompts that are measured, in tokens; left out: 512 with --quick, else "
                    "128,512,1024")
        ->check(not_empty())
        ->type_name("N,N...");
    options.add_option("--step-rows", step_rows_, "Prompt tokens run together: how prompts are cut")
        ->transform(whole_number(1, kMostRows))
        ->type_name("N");
    options.add_flag("--no-cone", no_cone_,
                     "Run every prompt token in every layer, also where nobody reads it");
    options
        .add_option("--stage-time", stage_time_,
                    "With --device sim:N: the devices run at the same time, and each takes at least so many "
                    "milliseconds for its part of a step")
        ->transform(decimal_number(0, 1000))
        ->type_name("MS");
    options
        .add_option("--trace", trace_,
                    "With --stage-time: write what every stage did when, for Perfetto or chrome://tracing")
        ->check(not_empty())
        ->type_name("FILE");
  }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    cancel_ = common.cancel;
    const std::vector<std::int64_t> batches = TRY(read_numbers("--batch", batches_, kMostBatch));
    std::vector<std::int64_t> lengths = {512}, depths = {128};
    if (!quick_) {
      lengths = {128, 512, 1024};
      depths = {128, 1024, 2048};
    }
    if (!prompts_.empty()) lengths = TRY(read_numbers("--prompts", prompts_, kMostLength));
    if (stage_time_ > 0 && stage_time_ < kLeastStageTime) {
      return misuse(fmt::format("--stage-time: {} is less than {}", stage_time_, kLeastStageTime));
    }
    if (stage_time_ > 0 && engine_options_.device == "cpu")
      return misuse("--stage-time: only with simulated devices, as --device sim:2");
    if (!trace_.empty() && stage_time_ == 0)
      return misuse("--trace: only of simulated devices with --stage-time");
    TRY(may_be_written("--trace", trace_, engine_options_.model, engine_options_.read_files(common)));
    const auto sessions = static_cast<int>(*std::max_element(batches.begin(), batches.end()));
    engine_ = TRY(engine_options_.open(
        common, {.stage_time = std::chrono::microseconds(std::lround(1000 * stage_time_)),
                 .sessions = sessions,
                 .step_rows = step_rows_,
                 .cone = !no_cone_}));
    for (int i = 0; i < sessions; ++i) sessions_.push_back(TRY(engine_->open_session()));
    TRY(measure_roof());
    const std::int64_t context = engine_->facts().context;
    if (context < 2) return Error(Fault::invalid, "--context: a bench needs at least 2");
    TRY(generate(std::min<std::int64_t>(64, context / 2), 8));  // warms up caches, pages and threads
    for (const std::int64_t length : within(lengths, context - 1)) TRY(prefill(length));
    for (const std::int64_t depth : within(depths, context - kDecoded)) {
      for (const std::int64_t batch : batches) TRY(decode(depth, static_cast<int>(batch)));
    }
    if (trace_.empty() || cancel_->requested()) return {};
    return write_stage_trace(trace_, spans_);
  }

 private:
  // Those that fit; the longest possible where none does.
  static std::vector<std::int64_t> within(std::vector<std::int64_t> lengths, std::int64_t most) {
    most = std::max<std::int64_t>(1, most);
    std::erase_if(lengths, [&](std::int64_t length) { return length > most; });
    if (lengths.empty()) lengths.push_back(most);
    return lengths;
  }

  int repetitions() const { return repetitions_ > 0 ? repetitions_ : quick_ ? 3 : 5; }

  Result<void> measure_roof() {
    // Weights by role, as stored: the engine keeps them in a layout of its own.
    const auto checkpoint = TRY(Checkpoint::open(engine_options_.model));
    traffic_ = weight_traffic(checkpoint->weights, checkpoint->blueprint);
    const int threads = engine_->facts().threads;
    roof_.memory = TRY(read_speed(kMemoryBytes, threads));
    roof_.model =
        traffic_.all_bytes >= kMemoryBytes ? roof_.memory : TRY(read_speed(traffic_.all_bytes, threads));
    return {};
  }

  Request request(std::int64_t prompt, std::int64_t tokens) {
    Request request;
    request.prompt = random_prompt(prompt, ++seed_, engine_->blueprint().vocabulary);
    request.max_tokens = tokens;
    request.past_end = true;  // so that every answer is as long as asked for
    request.plain = true;
    return request;
  }

  // Begins a measurement, where stages are watched, and ends it.
  void watch() { engine_->take_spans(); }
  void end_watch() {
    if (stage_time_ == 0) return;
    const std::vector<StageSpan> spans = engine_->take_spans();
    idle_.values.push_back(idle_share(spans, engine_->facts().stages));
    if (!trace_.empty()) spans_.insert(spans_.end(), spans.begin(), spans.end());
  }

  // A session that knows nothing, and a prompt never seen before.
  Result<Answer> generate(std::int64_t prompt, std::int64_t tokens) {
    engine_->reset_session(sessions_[0]);
    return engine_->generate(sessions_[0], request(prompt, tokens), {}, cancel_);
  }

  Result<void> prefill(std::int64_t length) {
    Measured rates, seconds;
    idle_.values.clear();
    for (int i = 0; i < repetitions(); ++i) {
      watch();
      const Answer answer = TRY(generate(length, 1));
      end_watch();
      if (cancel_->requested()) return {};
      seconds.values.push_back(answer.prefill_seconds);
      rates.values.push_back(static_cast<double>(length) / answer.prefill_seconds);
    }
    const std::int64_t steps = (length + step_rows_ - 1) / step_rows_;
    const double rate = rates.median();
    nlohmann::ordered_json line = {{"bench", "prefill"}, {"tokens", length}, {"batch", 1}};
    line["tokens_per_second"] = rate;
    line["spread"] = rates.spread();
    line["gflops"] = 2e-9 * static_cast<double>(traffic_.token_parameters) * rate;
    const auto least = static_cast<double>(traffic_.all_bytes * steps) / static_cast<double>(length);
    TRY(tell(std::move(line), rates.values.size(), least, rate));
    line = {{"bench", "first_token"}, {"tokens", length}, {"batch", 1}, {"seconds", seconds.median()}};
    line["spread"] = seconds.spread();
    return tell(std::move(line), seconds.values.size(), least,
                static_cast<double>(length) / seconds.median());
  }

  // Tokens a second of all sessions together. Each has read its prompt before, so that all decode all along.
  Result<double> decode_together(std::int64_t depth, int batch) {
    std::vector<Request> requests;
    for (int i = 0; i < batch; ++i) {
      requests.push_back(request(depth, 1));
      engine_->reset_session(sessions_[i]);
      TRY(engine_->generate(sessions_[i], requests[i], {}, cancel_));
      requests[i].max_tokens = kDecoded;
    }
    std::vector<std::optional<Result<Answer>>> answers(batch);
    watch();
    {
      std::vector<std::jthread> callers;
      for (int i = 0; i < batch; ++i) {
        callers.emplace_back(
            [&, i] { answers[i] = engine_->generate(sessions_[i], requests[i], {}, cancel_); });
      }
    }
    end_watch();
    double rate = 0;
    for (auto& given : answers) {
      const Answer answer = TRY(std::move(*given));
      rate += static_cast<double>(answer.ids.size() - 1) / answer.decode_seconds;
    }
    return rate;
  }

  Result<void> decode(std::int64_t depth, int batch) {
    Measured rates;
    idle_.values.clear();
    for (int i = 0; i < repetitions(); ++i) {
      const Result<double> rate = decode_together(depth, batch);
      if (cancel_->requested()) return {};
      if (!rate.ok()) return rate.error();
      rates.values.push_back(rate.value());
    }
    const double rate = rates.median();
    nlohmann::ordered_json line = {{"bench", "decode"}, {"depth", depth}, {"batch", batch}};
    line["tokens_per_second"] = rate;
    line["spread"] = rates.spread();
    // A step reads what all its tokens need but once, and different experts besides.
    const auto least = static_cast<double>(traffic_.token_bytes) / batch;
    return tell(std::move(line), rates.values.size(), least, rate);
  }

  // With what it is compared to: at least `least` bytes of weights have to be read for each token.
  Result<void> tell(nlohmann::ordered_json line, std::size_t counted, double least, double rate) {
    const EngineFacts& facts = engine_->facts();
    if (stage_time_ > 0) line["idle_share"] = idle_.median();
    line["repetitions"] = counted;
    line["least_bytes_per_token"] = least;
    line["read_gb_per_second"] = least * rate / 1e9;
    line["read_roof_gb_per_second"] = roof_.model / 1e9;
    line["share_of_read_roof"] = least * rate / roof_.model;
    line["memory_gb_per_second"] = roof_.memory / 1e9;
    line["model"] = facts.model;
    line["numerics"] = engine_options_.numerics;
    line["table"] = facts.table;
    line["cpu"] = cpu_;
    line["threads"] = facts.threads;
    line["device"] = facts.devices;
    line["stages"] = facts.stages;
    return write_output(json_text(line));
  }

  EngineChoices engine_options_;
  bool quick_ = false, no_cone_ = false;
  int repetitions_ = 0, step_rows_ = EngineOptions{}.step_rows;
  double stage_time_ = 0;  // milliseconds
  std::string batches_ = "1,8", prompts_, trace_;

  std::unique_ptr<Engine> engine_;
  std::vector<SessionId> sessions_;
  const Cancel* cancel_ = nullptr;
  Measured idle_;                 // shares of the measurement at hand
  std::vector<StageSpan> spans_;  // of all of them
  WeightTraffic traffic_;
  Roof roof_;
  std::string cpu_ = machine_facts().cpu;
  std::uint32_t seed_ = 0;
};

}  // namespace

std::unique_ptr<Command> bench_command() { return std::make_unique<Bench>(); }

}  // namespace manyspan::app
