#include "convert/convert.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/core.h>

#include "apps/bundled_model.h"
#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/machine_facts.h"
#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/progress_bar.h"
#include "apps/status.h"
#include "apps/streams.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kLeastShard = 4096;

// "5G", "500M", "1.5GiB", "4000000000": decimal units as disks have them, binary ones with an i.
std::optional<std::uint64_t> read_size(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  std::string unit(end, text.data() + text.size());
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
  if (unit.ends_with("B")) unit.pop_back();
  const double base = unit.ends_with("I") ? 1024 : 1000;
  if (unit.ends_with("I")) unit.pop_back();
  constexpr std::string_view kUnits = "KMGT";
  double by = 1;
  if (!unit.empty()) {
    const std::size_t at = kUnits.find(unit);
    if (at == std::string_view::npos || unit.size() != 1) return std::nullopt;
    for (std::size_t i = 0; i <= at; ++i) by *= base;
  }
  const double bytes = number * by;
  if (bytes > 0x1p62) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::string as_text(const ConvertReport& report) {
  std::string text =
      fmt::format("{:<22}  {:<18}  {:>9}  {:>12}  {:>12}\n", "from", "to", "matrices", "before", "after");
  for (const ConvertedKind& kind : report.kinds) {
    text += fmt::format("{:<22}  {:<18}  {:>9}  {:>12}  {:>12}\n", kind.from, kind.to, kind.matrices,
                        shown_bytes(static_cast<std::int64_t>(kind.bytes_before)),
                        shown_bytes(static_cast<std::int64_t>(kind.bytes_after)));
  }
  for (const std::string& note : report.notes) text += one_line(note) + "\n";
  if (report.resumed_bytes > 0)
    text += shown_bytes(static_cast<std::int64_t>(report.resumed_bytes)) +
            " of it were there from an earlier call\n";
  for (const std::string& file : report.files) text += "wrote " + one_line(file) + "\n";
  return text + shown_bytes(static_cast<std::int64_t>(report.bytes)) + "\n";
}

nlohmann::ordered_json as_json(const ConvertReport& report) {
  nlohmann::ordered_json document = {{"files", report.files},
                                     {"bytes", report.bytes},
                                     {"resumed_bytes", report.resumed_bytes},
                                     {"kinds", nlohmann::ordered_json::array()},
                                     {"notes", report.notes}};
  for (const ConvertedKind& kind : report.kinds) {
    document["kinds"].push_back({{"from", kind.from},
                                 {"to", kind.to},
                                 {"matrices", kind.matrices},
                                 {"bytes_before", kind.bytes_before},
                                 {"bytes_after", kind.bytes_after}});
  }
  return document;
}

class Convert final : public Command {
 public:
  About about() const override {
    return {"convert", "Write a model again in another container, losslessly or rounded to a smaller type",
            "  manyspan convert models/first-light first-light.gguf\n"
            "  manyspan convert model.gguf model-folder --shard-size 5G\n"
            "  manyspan convert model-folder model.gguf --quantize Q8_0 --shard-size 40G",
            "OUT is NAME.gguf, or the folder that safetensors are written to. An interrupted conversion "
            "waits in\n"
            "OUT.partial; the same command goes on with it.\n\n"};
  }

  void declare(CLI::App& options) override {
    options.add_option("in", in_, "A model's folder, a .safetensors file beside its config.json, or a .gguf")
        ->type_name("IN");
    options.add_option("out", out_, "NAME.gguf, or a folder for safetensors")->type_name("OUT");
    options
        .add_option("--shard-size", shard_size_, "Most bytes of a file, as 5G or 500M; left out: one file")
        ->check(not_empty())
        ->type_name("SIZE");
    options
        .add_option("--quantize", quantize_,
                    "Round matrices to Q8_0, Q4_0, MXFP4, F16 or BF16 where that makes them no larger")
        ->check(CLI::IsMember({"Q8_0", "Q4_0", "MXFP4", "F16", "BF16"}, CLI::ignore_case));
    options.add_flag("--overwrite", overwrite_, "Replace OUT where it is there");
    options.add_flag("--restart", restart_, "Throw away what an interrupted conversion left in OUT.partial");
  }

  Result<void> run(const Common& common) override {
    if (in_.empty() || out_.empty()) return misuse("convert: name a model and where it is to be written");
    TRY(model_folder(in_));
    ConvertOptions options{.overwrite = overwrite_, .restart = restart_, .cancel = common.cancel};
    if (!shard_size_.empty()) {
      const auto bytes = read_size(shard_size_);
      if (!bytes || *bytes < kLeastShard) {
        return misuse(fmt::format("--shard-size: {} is no size of at least {} bytes, such as 5G", shard_size_,
                                  kLeastShard));
      }
      options.shard_bytes = *bytes;
    }
    if (!quantize_.empty()) options.quantize = type();
    ProgressBar bar(common, "converting");
    options.progress = [&](const ConvertProgress& p) {
      bar.show(static_cast<std::int64_t>(p.done_bytes), static_cast<std::int64_t>(p.total_bytes));
    };
    const ConvertReport report = TRY(convert(in_, out_, options));
    if (!report.finished) {
      if (!common.quiet)
        write_error(
            fmt::format("{}: interrupted; the same command goes on with what is there\n", one_line(out_)));
      return {};
    }
    return write_output(common.json ? json_text(as_json(report)) : as_text(report));
  }

 private:
  StoredType type() const {
    const std::pair<const char*, StoredType> kTypes[] = {{"Q8_0", StoredType::q8_0},
                                                         {"Q4_0", StoredType::q4_0},
                                                         {"MXFP4", StoredType::mxfp4_ggml},
                                                         {"F16", StoredType::f16},
                                                         {"BF16", StoredType::bf16}};
    for (const auto& [name, type] : kTypes) {
      if (CLI::detail::to_lower(name) == CLI::detail::to_lower(quantize_)) return type;
    }
    return StoredType::bf16;
  }

  std::string in_, out_, shard_size_, quantize_;
  bool overwrite_ = false, restart_ = false;
};

}  // namespace

std::unique_ptr<Command> convert_command() { return std::make_unique<Convert>(); }

}  // namespace manyspan::app
