// How fast text becomes ids, and how long a tokenizer takes to open, for each tokenizer that is there.
#include <array>
#include <optional>
#include <string>
#include <zlib.h>

#include <benchmark/benchmark.h>

#include "text/engram_tokens.h"
#include "text/pretokenize.h"
#include "text/tokenizer.h"

namespace manyspan::text {
namespace {

// Packed or not; empty if there is no such file.
std::string read(const std::string& path) {
  std::string text, part(1 << 16, '\0');
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return text;
  for (int count = 0; (count = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;) {
    text.append(part, 0, static_cast<std::size_t>(count));
  }
  gzclose(file);
  return text;
}

const std::string& tokenizer_json(std::int64_t which) {
  static const std::string json[] = {read(MANYSPAN_SOURCE_DIR "/tests/data/tokenizer-small/tokenizer.json"),
                                     read(MANYSPAN_FIXTURES "/tokenizer-v41/tokenizer.json.gz")};
  return json[which];
}

// The fixture's rows are as mixed as text gets; as a JSON file they are code-like, too.
const std::string& mixed_text() {
  static const std::string text = read(MANYSPAN_SOURCE_DIR "/tests/data/tokenizer_cases.json");
  return text;
}

const std::string& english_text() {
  static const std::string text = read(MANYSPAN_SOURCE_DIR "/models/first-light/demo/page.txt");
  return text;
}

const Tokenizer* tokenizer(benchmark::State& state) {
  static const auto opened = [] {
    std::array<std::optional<Tokenizer>, 2> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      auto one = Tokenizer::parse(tokenizer_json(static_cast<std::int64_t>(i)), "bench");
      if (one.ok()) all[i] = std::move(one).value();
    }
    return all;
  }();
  const auto& one = opened[static_cast<std::size_t>(state.range(0))];
  if (!one) state.SkipWithError("this tokenizer is not there");
  state.SetLabel(state.range(0) == 0 ? "tokenizer-small" : "tokenizer-v41");
  return one ? &*one : nullptr;
}

void encode(benchmark::State& state, const std::string& text) {
  const Tokenizer* with = tokenizer(state);
  if (with == nullptr) return;
  for (auto _ : state) benchmark::DoNotOptimize(with->encode(text, true));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void Encode_English(benchmark::State& state) { encode(state, english_text()); }
void Encode_Mixed(benchmark::State& state) { encode(state, mixed_text()); }
void Encode_SpacesInOneRun(benchmark::State& state) { encode(state, std::string(1'000'000, ' ')); }

void Pretokenize_Mixed(benchmark::State& state) {
  for (auto _ : state) {
    PieceCutter pieces(mixed_text());
    while (!pieces.next().empty()) benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(mixed_text().size()));
}

void Open(benchmark::State& state) {
  if (tokenizer(state) == nullptr) return;
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::parse(tokenizer_json(state.range(0)), "bench"));
}

void EngramMap(benchmark::State& state) {
  const Tokenizer* of = tokenizer(state);
  if (of == nullptr) return;
  for (auto _ : state) benchmark::DoNotOptimize(engram_tokens(*of));
}

BENCHMARK(Encode_English)->Arg(0)->Arg(1);
BENCHMARK(Encode_Mixed)->Arg(0)->Arg(1);
BENCHMARK(Encode_SpacesInOneRun)->Arg(0)->Arg(1);
BENCHMARK(Pretokenize_Mixed);
BENCHMARK(Open)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);
BENCHMARK(EngramMap)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace manyspan::text
