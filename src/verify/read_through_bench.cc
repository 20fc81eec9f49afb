// Reading a checkpoint through beside reading its bytes alone, of one file that the system keeps in memory, with as many
// threads as there are cores: what remains is what looking at numbers costs.
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/check.h"
#include "base/temporary_folder.h"
#include "container/gguf_write.h"
#include "container/safetensors_write.h"
#include "verify/read_through.h"

namespace manyspan {
namespace {

constexpr std::int64_t kRows = 1 << 16;
constexpr std::size_t kPart = std::size_t{4} << 20;

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// Tensors of one type, 256 MiB and no bad number among them: no byte but 0x11.
const Container& checkpoint(StoredType type, bool gguf) {
  static const TemporaryFolder kFolder;
  static std::vector<std::pair<std::string, std::unique_ptr<Container>>> made;
  const std::string path = kFolder / (std::string(name(type)) + (gguf ? ".gguf" : ".safetensors"));
  for (const auto& [known, container] : made) {
    if (known == path) return *container;
  }
  const StoredBlock block = block_of(type);
  const std::int64_t cols = 4096 / block.bytes * block.elements / 256 * 256;
  const std::vector<std::byte> data(static_cast<std::size_t>(kRows * cols / block.elements * block.bytes),
                                    std::byte{0x11});
  const std::vector<TensorToWrite> tensors = {{"a.weight", type, {kRows, cols}, data}};
  const auto written = gguf ? write_gguf(path, GgufKeys(), tensors, 32) : write_safetensors(path, tensors);
  CHECK(written.ok(), "room for the benchmark's file");
  made.emplace_back(path, std::make_unique<Container>(open_container(path).value()));
  return *made.back().second;
}

void count(benchmark::State& state, std::uint64_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void alone(benchmark::State& state, StoredType type, bool gguf) {
  const Container& container = checkpoint(type, gguf);
  const File file = File::open(container.file_path(0)).value();
  for (auto _ : state) {
    std::atomic<std::uint64_t> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < cores(); ++t) {
      threads.emplace_back([&] {
        std::vector<std::byte> room(kPart);
        for (std::uint64_t from; (from = next.fetch_add(kPart)) < file.size();) {
          const auto part = std::span(room).first(std::min<std::uint64_t>(kPart, file.size() - from));
          CHECK(file.read_at(from, part).ok(), "a file that stays");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  count(state, file.size());
}

void through(benchmark::State& state, StoredType type, bool gguf, bool hashed) {
  const Container& container = checkpoint(type, gguf);
  const std::vector<std::string> to_hash(hashed ? 1 : 0, container.file_path(0));
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    const auto said = read_through(&container, nullptr, to_hash, {.threads = cores()});
    CHECK(said.ok() && said.value().findings.empty(), "a sound file");
    bytes = static_cast<std::uint64_t>(said.value().bytes);
  }
  count(state, bytes);
}

const bool kRegistered = [] {
  const std::pair<StoredType, bool> kinds[] = {{StoredType::f8_e4m3, false}, {StoredType::i8, false},
                                               {StoredType::bf16, false},    {StoredType::q4_k, true},
                                               {StoredType::q8_0, true},     {StoredType::mxfp4_ggml, true}};
  for (const auto& [type, gguf] : kinds) {
    const std::string what = std::string(name(type)) + (gguf ? " gguf" : " safetensors");
    const auto add = [&](const std::string& how, auto body) {
      benchmark::RegisterBenchmark((what + "/" + how).c_str(), body)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    };
    add("read alone", [t = type, g = gguf](benchmark::State& s) { alone(s, t, g); });
    add("numbers", [t = type, g = gguf](benchmark::State& s) { through(s, t, g, false); });
    add("numbers and hash", [t = type, g = gguf](benchmark::State& s) { through(s, t, g, true); });
  }
  return true;
}();

}  // namespace
}  // namespace manyspan
