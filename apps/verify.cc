#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <set>

#include "apps/checked_model.h"
#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/machine_facts.h"
#include "apps/model_files.h"
#include "apps/option_checks.h"
#include "apps/output_file.h"
#include "apps/progress_bar.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/verify_report.h"
#include "base/file.h"
#include "verify/manifest.h"

namespace manyspan::app {
namespace {

constexpr std::uint64_t kMaxManifestBytes = std::uint64_t{64} << 20;

class Verify final : public Command {
 public:
  About about() const override {
    return {"verify", "Check a model's files: complete, well shaped, every number and scale sound, hashes",
            "  manyspan verify models/first-light\n"
            "  manyspan verify model.gguf --sample 0.01\n"
            "  manyspan verify DIR --write-manifest DIR.sha256\n"
            "  manyspan verify DIR --manifest DIR.sha256",
            "The exit status is 0 where all is good and 3 where something is not; findings are told first.\n"
            "A manifest is what sha256sum writes, with names relative to the model's folder.\n\n"};
  }

  void declare(CLI::App& options) override {
    declare_model(options, model_);
    options.add_option("--manifest", manifest_, "Compare the SHA-256 of every file that FILE names")
        ->type_name("FILE")
        ->check(not_empty());
    options.add_option("--write-manifest", write_, "Write the SHA-256 of the model's files, if all is good")
        ->type_name("FILE")
        ->check(not_empty());
    options
        .add_option(
            "--sample", sample_,
            "The share of each large tensor that is read; all of a small one, and every scale, always are")
        ->type_name("FRACTION")
        ->check(decimal_number(1e-6, 1));
    options.add_option("--threads", threads_, "Threads that read; left out: one for each core")
        ->type_name("N")
        ->check(whole_number(1, 1024));
    options.add_option("--max-findings", most_, "Findings that are told one by one; all are counted")
        ->type_name("N")
        ->check(whole_number(1, 1'000'000));
  }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    TRY(check_options());
    std::vector<ManifestEntry> expected;
    if (!manifest_.empty()) expected = TRY(read_manifest());
    const auto model = TRY(of_file(check_model(model_, *common.cancel)));
    const std::vector<ManifestEntry> wanted = write_.empty() ? expected : named(*model);
    VerifyReport report = facts_of(*model);
    report.read = TRY(of_file(read(common, *model, wanted)));
    collect(*model, report);
    if (!manifest_.empty()) compare(*model, expected, report);
    if (!write_.empty() && report.findings.empty()) {
      TRY(write_manifest(wanted, report.read.hashes));
      report.written = write_;
    } else if (!write_.empty()) {
      report.notes.push_back(write_ + ": not written, since not all is good");
    }
    TRY(write_output(common.json ? json_text(as_json(report, most_)) : as_text(report, most_)));
    return verdict(report);
  }

 private:
  Result<void> check_options() const {
    if (!manifest_.empty() && !write_.empty())
      return misuse("--write-manifest: it excludes --manifest; check first, then write");
    if (sample_ < 1 && (!manifest_.empty() || !write_.empty()))
      return misuse("--sample: a manifest needs every byte to be read");
    if (write_.empty()) return {};
    std::error_code unknown;
    if (std::filesystem::exists(std::filesystem::symlink_status(write_, unknown)))
      return misuse(fmt::format("--write-manifest: {} is there already", write_));
    return may_be_written("--write-manifest", write_, model_, {});
  }

  Result<std::vector<ManifestEntry>> read_manifest() const {
    auto entries = parse_manifest(TRY(of_file(read_file(manifest_, kMaxManifestBytes))));
    if (!entries.ok()) return std::move(entries).error().within(manifest_);
    return entries;
  }

  std::vector<ManifestEntry> named(const CheckedModel& model) const {
    std::vector<ManifestEntry> entries;
    if (model.container == nullptr) return entries;
    for (const std::string& name : files_of_model(model_, *model.container)) entries.push_back({"", name});
    return entries;
  }

  std::string path_of(const std::string& name) const { return manifest_folder(model_) + "/" + name; }

  VerifyReport facts_of(const CheckedModel& model) const {
    VerifyReport report = {};
    report.path = model_;
    report.what = model.what;
    report.off = model.off;
    report.sample = sample_;
    if (model.container == nullptr) return report;
    report.files = model.container->files();
    report.tensors = model.container->tensors().size();
    for (const StoredTensor& tensor : model.container->tensors()) report.tensor_bytes += tensor.bytes;
    return report;
  }

  Result<ReadThrough> read(const Common& common, const CheckedModel& model,
                           const std::vector<ManifestEntry>& wanted) const {
    ProgressBar bar(common, "verifying");
    ReadOptions options;
    options.threads = threads_ > 0 ? threads_ : std::max(machine_facts().cores, 1);
    options.sample = sample_;
    options.cancel = common.cancel;
    options.tick = [&](std::int64_t done, std::int64_t all) { bar.show(done, all); };
    std::vector<std::string> to_hash;
    for (const ManifestEntry& entry : wanted) to_hash.push_back(path_of(entry.name));
    return read_through(model.container, model.weights, to_hash, options);
  }

  static void collect(const CheckedModel& model, VerifyReport& report) {
    for (const std::string& finding : model.findings) report.findings.push_back({finding});
    report.findings.insert(report.findings.end(), report.read.findings.begin(), report.read.findings.end());
    report.notes = model.notes;
    report.notes.insert(report.notes.end(), report.read.warnings.begin(), report.read.warnings.end());
  }

  void compare(const CheckedModel& model, const std::vector<ManifestEntry>& expected,
               VerifyReport& report) const {
    report.manifest = manifest_;
    report.manifest_files = expected.size();
    std::set<std::string> names;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [hex, name] = expected[i];
      names.insert(std::filesystem::path(name).lexically_normal().string());
      const std::string& found = report.read.hashes[i];
      if (found == hex) {
        ++report.manifest_equal;
      } else if (!found.empty()) {  // else it could not be read, which is a finding by itself
        report.findings.push_back(
            {fmt::format("{}: its SHA-256 is {}, but {} says {}", path_of(name), found, manifest_, hex)});
      }
    }
    if (model.container == nullptr) return;
    const std::vector<std::string> own = files_of_model(model_, *model.container);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (names.count(own[i]) > 0) continue;
      const std::string text = fmt::format("{}: {} does not name it", path_of(own[i]), manifest_);
      if (i < model.container->files()) {
        report.findings.push_back({text});
      } else {
        report.notes.push_back(text);
      }
    }
  }

  Result<void> write_manifest(std::vector<ManifestEntry> entries,
                              const std::vector<std::string>& hashes) const {
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].hex = hashes[i];
    return of_writing(write_file_atomically(write_, bytes_of(manifest_text(entries))));
  }

  Result<void> verdict(const VerifyReport& report) const {
    if (report.findings.empty()) return {};
    const std::string first = finding_text(report.findings[0]);
    if (report.findings.size() == 1) return Error(Fault::corrupt, first);
    return Error(Fault::corrupt,
                 fmt::format("{}: {} findings, the first: {}", model_, report.findings.size(), first));
  }

  std::string model_, manifest_, write_;
  double sample_ = 1;
  int threads_ = 0;
  std::size_t most_ = 20;
};

}  // namespace

std::unique_ptr<Command> verify_command() { return std::make_unique<Verify>(); }

}  // namespace manyspan::app
