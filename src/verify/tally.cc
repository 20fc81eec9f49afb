#include "verify/tally.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace manyspan {
namespace {

// A file that was never written to its end often has zeros there. So few may be meant.
constexpr std::uint64_t kManyZeros = 1 << 20, kSmallTensor = 4096;

bool all_zero(Bytes part) {
  return !part.empty() && part[0] == std::byte{0} &&
         std::memcmp(part.data(), part.data() + 1, part.size() - 1) == 0;
}

}  // namespace

Tally::Tally(const Container* container, const std::vector<Rule>& rules)
    : container_(container), rules_(rules), zeros_(rules.size()) {}

void Tally::meet(std::map<Kind, Met>& met, std::size_t tensor, std::uint64_t first_unit, const BadNumber& bad,
                 Bytes part) const {
  const auto unit = static_cast<std::size_t>(rules_[tensor].unit_bytes());
  const auto [place, fresh] =
      met.try_emplace(Kind{tensor, bad.what}, Met{first_unit + bad.at, "", bad.kind, 0, false});
  if (fresh) place->second.shown = shown_unit(rules_[tensor], part.subspan(bad.at * unit, unit));
  ++place->second.count;
}

// After a hit the next ones are likely near: units are then looked at one by one for a while, since each look at a long
// run costs more than a unit. Where a part is bad all over its rest is not counted, or a file of nothing else would take
// hours.
void Tally::each_bad(std::map<Kind, Met>& met, std::size_t tensor, std::uint64_t first_unit,
                     Bytes part) const {
  constexpr std::uint64_t kWhile = 1024;
  constexpr int kMostCounted = 4096;
  int counted = 0;
  const Rule& rule = rules_[tensor];
  const auto unit = static_cast<std::size_t>(rule.unit_bytes());
  const std::uint64_t units = part.size() / unit;
  for (std::uint64_t at = 0; at < units && counted < kMostCounted;) {
    auto bad = rule.first_bad(part.subspan(at * unit));
    if (!bad) return;
    bad->at += at;
    meet(met, tensor, first_unit, *bad, part);
    ++counted;
    const std::uint64_t end = std::min(units, bad->at + kWhile);
    for (at = bad->at + 1; at < end && counted < kMostCounted; ++at) {
      auto next = rule.first_bad(part.subspan(at * unit, unit));
      if (!next) continue;
      next->at = at;
      meet(met, tensor, first_unit, *next, part);
      ++counted;
    }
  }
  if (counted < kMostCounted) return;
  for (auto& [kind, here] : met) here.more = true;
}

void Tally::look(std::size_t tensor, std::uint64_t from, Bytes part) {
  const Rule& rule = rules_[tensor];
  const auto unit = static_cast<std::uint64_t>(rule.unit_bytes());
  if (rule.known) {
    const std::int64_t numbers = static_cast<std::int64_t>(part.size() / unit) * rule.per_unit();
    (rule.plane == Plane::scales ? scales_ : values_) += numbers;
  }
  if (all_zero(part)) zeros_[tensor] += part.size();
  std::map<Kind, Met> met;
  each_bad(met, tensor, from / unit, part);
  if (met.empty()) return;
  const std::lock_guard hold(lock_);
  for (auto& [kind, here] : met) {
    const auto [place, fresh] = met_.try_emplace(kind, here);
    if (fresh) continue;
    const std::int64_t count = place->second.count + here.count;
    const bool more = place->second.more || here.more;
    if (here.first < place->second.first) place->second = here;
    place->second.count = count;
    place->second.more = more;
  }
}

void Tally::unreadable(std::size_t file, std::uint64_t from, std::string message) {
  const std::lock_guard hold(lock_);
  const auto [place, fresh] = unreadable_.try_emplace(file, from, message);
  if (!fresh && from < place->second.first) place->second = {from, std::move(message)};
}

std::int64_t Tally::bad() const {
  const std::lock_guard hold(lock_);
  std::int64_t sum = 0;
  for (const auto& [kind, met] : met_) sum += met.count;
  return sum;
}

std::vector<Finding> Tally::findings() const {
  const std::lock_guard hold(lock_);
  std::vector<std::tuple<std::size_t, std::uint64_t, Finding>> all;  // file, place in it
  for (const auto& [file, what] : unreadable_) all.push_back({file, what.first, {what.second}});
  for (const auto& [kind, met] : met_) {
    const StoredTensor& tensor = container_->tensors()[kind.first];
    const Rule& rule = rules_[kind.first];
    std::string text = container_->place(tensor) + ": " + std::string(met.kind) + " " +
                       std::to_string(met.first) + " at " + shown_place(tensor, rule, met.first) +
                       kind.second;
    if (!met.shown.empty()) text += " (" + met.shown + ")";
    const std::uint64_t at = tensor.offset + met.first * static_cast<std::uint64_t>(rule.unit_bytes());
    all.push_back({tensor.file, at, {std::move(text), met.count, met.more}});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  std::vector<Finding> findings;
  for (auto& [file, at, finding] : all) findings.push_back(std::move(finding));
  return findings;
}

std::vector<std::string> Tally::warnings() const {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < zeros_.size(); ++i) {
    const StoredTensor& tensor = container_->tensors()[i];
    const std::uint64_t zeros = zeros_[i];
    const bool whole = zeros == tensor.bytes && tensor.bytes >= kSmallTensor && tensor.rows() > 1;
    if (!whole && zeros < kManyZeros) continue;
    warnings.push_back(container_->place(tensor) + ": " +
                       (whole ? "nothing but zeros in its " + std::to_string(tensor.bytes) + " bytes"
                              : std::to_string(zeros) + " of its " + std::to_string(tensor.bytes) +
                                    " bytes are zeros in long runs") +
                       ", as where a file was never written");
  }
  return warnings;
}

}  // namespace manyspan
