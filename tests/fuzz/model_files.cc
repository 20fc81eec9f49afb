// The files beside the weights, and a session's: what is accepted can be worked with.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "engine/generation_config.h"
#include "session/snapshot_file.h"
#include "spec/engram_map.h"
#include "tests/fuzz/described.h"
#include "tests/fuzz/made_file.h"
#include "tests/fuzz/target.h"

namespace manyspan::fuzz {
namespace {

// A map that uses every class: token t has class t, as long as there are classes.
Outcome map_of_all_classes(const Blueprint& b) {
  constexpr std::int32_t kMost = 1 << 20;
  if (b.engram.layers.empty() || b.vocabulary > kMost) return {.accepted = true};
  std::vector<std::int32_t> map(static_cast<std::size_t>(b.vocabulary));
  for (std::int32_t t = 0; t < b.vocabulary; ++t)
    map[static_cast<std::size_t>(t)] = std::min(t, b.engram.token_classes - 1);
  const auto made = EngramMap::create(b, std::move(map));
  HOLD(made.ok(), "a map of all classes is one: " + made.error().message());
  return engram_holds(made.value(), b);
}

const Blueprint& small_model() {
  static const Blueprint blueprint = [] {
    auto text = read_file(MANYSPAN_SOURCE_DIR "/tests/data/t1_base/config.json", 1 << 20);
    CHECK(text.ok(), "the small model's config");
    return read_blueprint(text.value()).value();
  }();
  return blueprint;
}

constexpr std::int64_t kContext = 64;

// Gives header and sections the checksums that fit them: damage is found by those, and is not looked at here.
void mend_sums(std::string& bytes) {
  if (bytes.size() < static_cast<std::size_t>(kSnapshotHeaderBytes)) return;
  const std::span<std::byte> all = std::as_writable_bytes(std::span(bytes.data(), bytes.size()));
  constexpr std::size_t kTokensAt = 24, kSumAt = 76, kSectionSumAt = 28;
  store_little_endian(crc32c(Bytes(all).first(kSumAt)), &all[kSumAt]);
  const auto tokens = load_little_endian<std::int64_t>(&all[kTokensAt]);
  if (tokens < 0 || tokens > kContext) return;
  std::size_t at = static_cast<std::size_t>(kSnapshotHeaderBytes);
  for (const SnapshotSection& section : snapshot_sections(small_model(), tokens)) {
    const auto length = static_cast<std::size_t>(section.bytes());
    if (length > all.size() - at) return;
    const Bytes whole = Bytes(all).subspan(at, length);
    const std::uint32_t sum = crc32c(whole.subspan(kSectionHeadBytes), crc32c(whole.first(kSectionSumAt)));
    store_little_endian(sum, &all[at + kSectionSumAt]);
    at += length;
  }
}

}  // namespace

Outcome config(std::string_view input) {
  const Result<Blueprint> blueprint = read_blueprint(input);
  if (!blueprint.ok()) return refused(blueprint.error());
  if (Outcome outcome = blueprint_holds(blueprint.value()); !outcome.broken.empty()) return outcome;
  return map_of_all_classes(blueprint.value());
}

Outcome tokenizer(std::string_view input) {
  const auto tokenizer = text::Tokenizer::parse(input, "tokenizer.json");
  if (!tokenizer.ok()) return refused(tokenizer.error(), "tokenizer.json");
  return tokenizer_holds(tokenizer.value(), input);
}

Outcome generation_config(std::string_view input) {
  static MadeFile file;
  file.hold(input);
  for (const Blueprint* blueprint : {static_cast<const Blueprint*>(nullptr), &small_model()}) {
    const auto defaults = read_generation_config(file.path(), blueprint);
    if (!defaults.ok()) return refused(defaults.error(), file.path());
    const GenerationDefaults& d = defaults.value();
    HOLD(d.temperature >= 0 && d.temperature <= 100, "a temperature from 0 to 100");
    HOLD(d.top_p > 0 && d.top_p <= 1, "top_p above 0, at most 1");
    HOLD(is_thinking(d.thinking), "a way to think");
  }
  return {.accepted = true};
}

// Opened once by another engine, which must say so, and once by the one that the header names.
Outcome snapshot(std::string_view input) {
  static MadeFile file;
  std::string bytes(input);
  mend_sums(bytes);
  file.hold(bytes);
  SnapshotOrigin origin{};
  if (bytes.size() >= static_cast<std::size_t>(kSnapshotHeaderBytes)) {
    std::array<std::byte, kSnapshotHeaderBytes> head;
    std::copy_n(bytes_of(bytes).begin(), head.size(), head.begin());
    const auto header = read_header(head);
    if (header.ok()) {
      origin = header.value().origin;
      HOLD(origin.numerics.size() <= kMostNumericsBytes, "a name of numerics that can be written");
      const auto again = read_header(write_header(header.value()));
      HOLD(again.ok() && again.value().origin == origin && again.value().tokens == header.value().tokens &&
               again.value().bytes == header.value().bytes,
           "a header is written as it is read");
    }
  }
  const auto foreign = SnapshotFile::open(file.path(), {1, 2, "another"}, small_model(), kContext);
  if (!foreign.ok() && foreign.error().fault() != Fault::exhausted) {
    if (Outcome outcome = refused(foreign.error(), file.path()); !outcome.broken.empty()) return outcome;
  }
  auto opened = SnapshotFile::open(file.path(), origin, small_model(), kContext);
  if (!opened.ok()) {
    // What does not fit the context is no fault of the file.
    if (opened.error().fault() == Fault::exhausted) return {};
    return refused(opened.error(), file.path());
  }
  SnapshotFile whole = std::move(opened).value();
  for (std::size_t s = 0; s < whole.sections().size(); ++s) {
    const auto rows = whole.rows(s);
    if (!rows.ok()) return refused(rows.error(), file.path());
    HOLD(std::ssize(rows.value()) + kSectionHeadBytes == whole.sections()[s].bytes(), "a section's rows");
  }
  return {.accepted = true};
}

}  // namespace manyspan::fuzz
