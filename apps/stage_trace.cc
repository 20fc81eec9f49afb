#include "apps/stage_trace.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "apps/output_file.h"
#include "base/file.h"

namespace manyspan::app {
namespace {

constexpr int kQueues = 3;

int track_of(const StageSpan& span) { return span.stage * kQueues + static_cast<int>(span.queue); }

const char* name_of(QueueKind queue) {
  return queue == QueueKind::main ? "main" : queue == QueueKind::side ? "side" : "copy";
}

}  // namespace

Result<void> write_stage_trace(const std::string& path, std::span<const StageSpan> spans) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  std::vector<int> named;
  for (const StageSpan& s : spans) {
    const int track = track_of(s);
    if (std::find(named.begin(), named.end(), track) == named.end()) {
      named.push_back(track);
      events.push_back({{"name", "thread_name"},
                        {"ph", "M"},
                        {"pid", 0},
                        {"tid", track},
                        {"args", {{"name", fmt::format("stage {} {}", s.stage, name_of(s.queue))}}}});
    }
    events.push_back({{"name", s.name},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", track},
                      {"ts", 1e6 * s.from},
                      {"dur", 1e6 * (s.to - s.from)}});
  }
  const std::string text = nlohmann::ordered_json{{"traceEvents", std::move(events)}}.dump();
  return of_writing(write_file_atomically(path, std::as_bytes(std::span(text))));
}

double idle_share(std::span<const StageSpan> spans, int stages) {
  if (spans.empty() || stages < 1) return 0;
  double first = spans[0].from, last = spans[0].to, busy = 0;
  for (const StageSpan& s : spans) {
    first = std::min(first, s.from);
    last = std::max(last, s.to);
    if (s.queue == QueueKind::main) busy += s.to - s.from;
  }
  return 1 - busy / ((last - first) * stages);
}

}  // namespace manyspan::app
