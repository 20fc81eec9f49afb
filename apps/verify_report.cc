#include "apps/verify_report.h"

#include <algorithm>
#include <fmt/core.h>

#include "apps/machine_facts.h"
#include "apps/status.h"

namespace manyspan::app {
namespace {

double gigabytes_a_second(const ReadThrough& read) {
  return read.seconds > 0 ? static_cast<double>(read.bytes) / read.seconds / 1e9 : 0;
}

std::string counted(std::size_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

double percent_read(const VerifyReport& report) {
  return report.tensor_bytes == 0
             ? 100
             : 100 * static_cast<double>(report.read.bytes) / static_cast<double>(report.tensor_bytes);
}

std::string values_line(const VerifyReport& report) {
  const ReadThrough& read = report.read;
  const std::string share =
      report.sample < 1 ? fmt::format(" ({:.3g} % of the bytes)", percent_read(report)) : "";
  const bool more =
      std::any_of(read.findings.begin(), read.findings.end(), [](const Finding& f) { return f.more; });
  return fmt::format("values: {} numbers and {} scales looked at{}, {}{} bad\n", read.values, read.scales,
                     share, more ? "at least " : "", read.bad == 0 ? "none" : std::to_string(read.bad));
}

}  // namespace

std::string finding_text(const Finding& finding) {
  if (finding.count == 1) return one_line(finding.text);
  return one_line(finding.text) +
         fmt::format("; {}{} such in this tensor", finding.more ? "at least " : "", finding.count);
}

std::string as_text(const VerifyReport& report, std::size_t most) {
  const std::size_t count = report.findings.size();
  std::string text;
  for (std::size_t i = 0; i < std::min(count, most); ++i)
    text += "finding: " + finding_text(report.findings[i]) + "\n";
  if (count > most) text += fmt::format("finding: and {} more\n", count - most);
  for (const std::string& note : report.notes) text += "note: " + one_line(note) + "\n";
  for (const std::string& off : report.off) text += "off: " + one_line(off) + "\n";
  if (report.files > 0) {
    text += fmt::format("structure: {}, {} in {}, {}\n", report.what, counted(report.tensors, "tensor"),
                        counted(report.files, "file"),
                        shown_bytes(static_cast<std::int64_t>(report.tensor_bytes)));
    text += values_line(report);
  }
  if (!report.manifest.empty()) {
    text += fmt::format("manifest: {} of {} have the SHA-256 that {} says\n", report.manifest_equal,
                        counted(report.manifest_files, "file"), one_line(report.manifest));
  }
  if (!report.written.empty()) text += fmt::format("manifest: written to {}\n", one_line(report.written));
  if (report.read.bytes > 0)
    text += fmt::format("read: {} in {:.3f} s, {:.2f} GB/s, {}\n", shown_bytes(report.read.bytes),
                        report.read.seconds, gigabytes_a_second(report.read),
                        counted(static_cast<std::size_t>(report.read.threads), "thread"));
  return text +
         fmt::format("{}: {}\n", one_line(report.path), count == 0 ? "good" : counted(count, "finding"));
}

nlohmann::ordered_json as_json(const VerifyReport& report, std::size_t most) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < std::min(report.findings.size(), most); ++i)
    findings.push_back({{"what", report.findings[i].text},
                        {"count", report.findings[i].count},
                        {"more", report.findings[i].more}});
  nlohmann::ordered_json document = {{"path", report.path},
                                     {"good", report.findings.empty()},
                                     {"what", report.what},
                                     {"findings_count", report.findings.size()},
                                     {"findings", findings},
                                     {"notes", report.notes},
                                     {"capabilities_off", report.off},
                                     {"files", report.files},
                                     {"tensors", report.tensors},
                                     {"tensor_bytes", report.tensor_bytes},
                                     {"sample", report.sample},
                                     {"numbers", report.read.values},
                                     {"scales", report.read.scales},
                                     {"bad", report.read.bad}};
  if (!report.manifest.empty()) {
    document["manifest"] = {
        {"path", report.manifest}, {"files", report.manifest_files}, {"equal", report.manifest_equal}};
  }
  if (!report.written.empty()) document["manifest_written"] = report.written;
  document["bytes_read"] = report.read.bytes;
  document["seconds"] = report.read.seconds;
  document["gigabytes_per_second"] = gigabytes_a_second(report.read);
  document["threads"] = report.read.threads;
  return document;
}

}  // namespace manyspan::app
