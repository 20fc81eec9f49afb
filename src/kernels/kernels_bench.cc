// Operations alone at the shapes of the bundled model and of the full one: GB/s of the least bytes that must
// move, and GFLOP/s. `one thread` is measured in processor time, so that a busy machine does not blur it.
#include <thread>

#include <benchmark/benchmark.h>

#include "kernels/agreement.h"
#include "kernels/trial_quadrants.h"

namespace manyspan::kernels {
namespace {

// Runs one operation over and over; `flops` of a run.
template <class P>
void repeat(benchmark::State& state, const Op<P>& op, P p, int threads, double flops) {
  HostDevice host(threads);
  const auto queue = host.queue(QueueKind::main).value();
  const Buffer work = host.allocate(op.workspace(p)).value();
  if constexpr (requires { p.work; }) p.work = {work.as<std::byte>(), work.bytes()};
  for (auto _ : state) op.enqueue(*queue, p);
  using benchmark::Counter;
  const auto runs = static_cast<double>(state.iterations());
  state.counters["GB/s"] = Counter(1e-9 * static_cast<double>(least_bytes(p)) * runs, Counter::kIsRate);
  if (flops > 0) state.counters["GFLOP/s"] = Counter(1e-9 * flops * runs, Counter::kIsRate);
}

// Registers `body(state, table, rows, threads)` for every table, for one thread and for all.
template <class Body>
void every(const std::string& what, const std::vector<std::int64_t>& rows, Body body) {
  const auto all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (const Table* table : host_tables()) {
    for (const std::int64_t t : rows) {
      const std::string name = std::string(table->name) + "/" + what + "/" + std::to_string(t);
      benchmark::RegisterBenchmark((name + "/one thread").c_str(),
                                   [=](benchmark::State& s) { body(s, *table, t, 1); });
      benchmark::RegisterBenchmark((name + "/all threads").c_str(), [=](benchmark::State& s) {
        body(s, *table, t, all);
      })->UseRealTime();
    }
  }
}

void linears() {
  struct Shape {
    const char* name;
    Encoding encoding;
    std::int32_t n, k;
  };
  for (const Shape& s : {Shape{"bundled wq_b", Encoding::fp8_block32, 512, 128},
                         {"bundled up", Encoding::mxfp4, 128, 256},
                         {"bundled head", Encoding::bf16, 3200, 256},
                         {"full wq_a", Encoding::fp8_block32, 1280, 5120},
                         {"full up", Encoding::mxfp4, 4608, 5120},
                         {"full head slice", Encoding::bf16, 4096, 5120}}) {
    every(s.name, {1, 6, 384},
          [s](benchmark::State& state, const Table& table, std::int64_t rows, int threads) {
            Chance chance(1);
            const Matrix m = arranged_for(table, plain_matrix(chance, s.encoding, s.n, s.k));
            const std::vector<Bf16> x = chance.bf16(rows * s.k);
            std::vector<Bf16> y(rows * s.n);
            Linear p = {};
            p.count = 1;
            p.parts[0] = {rows_of(x, s.k), m.w, {rows_of(y, s.n), {}}};
            repeat(state, table.linear, p, threads, 2.0 * s.n * s.k * static_cast<double>(rows));
          });
  }
}

// What surrounds the products, at the bundled model's shapes.
void joints() {
  constexpr std::int32_t kD = 256, kStreams = 4;
  every("bundled turn", {1, 384},
        [](benchmark::State& state, const Table& table, std::int64_t rows, int threads) {
          Chance chance(1);
          std::vector<Bf16> streams(rows * kStreams * kD), x(rows * kD), x8(rows * kD);
          const std::vector<Bf16> o = chance.bf16(rows * kD), gain = chance.bf16(kD);
          const std::vector<float> post = chance.f32(rows * 4), comb = chance.f32(rows * 16, 0, 0.2f);
          Turn p = {};
          p.streams = rows_of(streams, kStreams * kD), p.streams_count = kStreams, p.eps = 1e-20f,
          p.gain = gain.data();
          p.o = rows_of(o, kD), p.post = rows_of(post, 4), p.comb = rows_of(comb, 16),
          p.pre = rows_of(post, 4);
          p.x = rows_of(x, kD), p.x8 = rows_of(x8, kD);
          repeat(state, table.turn, p, threads, 0);
        });
  every("bundled mix", {1, 384},
        [](benchmark::State& state, const Table& table, std::int64_t rows, int threads) {
          Chance chance(1);
          const Matrix fn = arranged_for(table, plain_matrix(chance, Encoding::f32, 24, kStreams * kD));
          const std::vector<Bf16> streams = chance.bf16(rows * kStreams * kD);
          const std::vector<float> base = chance.f32(24), scale = {1, 1, 1};
          std::vector<float> pre(rows * 4), post(rows * 4), comb(rows * 16);
          Mix p = {};
          p.streams = rows_of(streams, kStreams * kD), p.streams_count = kStreams, p.fn = fn.w;
          p.base = base.data(), p.scale = scale.data(), p.eps = 1e-20f, p.mix_eps = 1e-6f, p.iterations = 20;
          p.pre = rows_of(pre, 4), p.post = rows_of(post, 4), p.comb = rows_of(comb, 16);
          repeat(state, table.mix, p, threads, 2.0 * 24 * kStreams * kD * static_cast<double>(rows));
        });
}

void attention() {
  struct Shape {
    const char* name;
    std::int32_t heads, d, window, width;
  };
  for (const Shape& s : {Shape{"bundled attend", 8, 64, 32, 32}, {"full attend", 64, 512, 128, 512}}) {
    every(s.name, {1, 64}, [s](benchmark::State& state, const Table& table, std::int64_t rows, int threads) {
      Chance chance(1);
      TrialBatch batch({{0, {1000}, 0, static_cast<std::int32_t>(rows)}});
      TrialWindow window(1, 40, s.d);
      TrialSource source(1, 20, 1, s.d, 32);
      std::fill(window.bytes.begin(), window.bytes.end(), std::byte{0x70});
      std::fill(source.bytes.begin(), source.bytes.end(), std::byte{0x35});
      const std::int64_t cols = std::int64_t{s.heads} * s.d;
      const std::vector<Bf16> q = chance.bf16(batch.rows() * cols);
      std::vector<Bf16> o(q.size());
      std::vector<float> frequency(32, 0.1f), sink(s.heads, 0.0f);
      std::vector<std::int32_t> chosen(batch.rows() * s.width), count(batch.rows(), s.width);
      for (std::size_t i = 0; i < chosen.size(); ++i)
        chosen[i] = static_cast<std::int32_t>(i) % s.width * 2 % 1000;
      Attend p = {};
      p.q = rows_of(q, cols), p.heads = s.heads, p.window_rows = s.window, p.scale = 0.1f,
      p.batch = batch.view();
      p.window = window.view, p.source = source.view, p.selected = {chosen.data(), count.data(), s.width};
      p.rope = {frequency.data(), s.d / 8}, p.sink = sink.data(), p.o = rows_of(o, cols);
      repeat(state, table.attend, p, threads, 4.0 * static_cast<double>((s.window + s.width) * cols * rows));
    });
  }
}

// What packed bytes cost: every encoding by the fastest table, one row, beside a plain read of as many bytes as the
// largest one has.
void encodings() {
  constexpr std::int32_t kN = 4608, kK = 5120;
  benchmark::RegisterBenchmark("encodings/plain read/one thread", [](benchmark::State& state) {
    std::vector<std::uint64_t> bytes(std::size_t{kN} * kK / 2, 1);
    for (auto _ : state) {
      std::uint64_t sums[8] = {};
      for (std::size_t i = 0; i < bytes.size(); i += 8) {
        for (std::size_t j = 0; j < 8; ++j) sums[j] += bytes[i + j];
      }
      benchmark::DoNotOptimize(sums);
    }
    const auto read = static_cast<double>(bytes.size() * sizeof bytes[0]);
    state.counters["GB/s"] = benchmark::Counter(1e-9 * read * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
  });
  for (const Encoding e : every_encoding()) {
    const std::string in = "encodings/" + std::string(name(e));
    benchmark::RegisterBenchmark((in + "/product/one thread").c_str(), [e](benchmark::State& state) {
      const Table& table = *host_tables().back();
      Chance chance(1);
      const Matrix m = arranged_for(table, plain_matrix(chance, e, kN, kK));
      const std::vector<Bf16> x = chance.bf16(kK);
      std::vector<Bf16> y(kN);
      Linear p = {};
      p.count = 1;
      p.parts[0] = {rows_of(x, kK), m.w, {rows_of(y, kN), {}}};
      repeat(state, table.linear, p, 1, 2.0 * kN * kK);
    });
    if (scale_cell(e).rows > 1) continue;
    benchmark::RegisterBenchmark((in + "/Engram rows/one thread").c_str(), [e](benchmark::State& state) {
      constexpr std::int32_t kColumns = 24, kDim = 256;
      TrialBatch batch({{0, {0}, 0, 64}});
      Chance chance(1);
      const std::int64_t numbers = std::int64_t{kColumns} * kDim;
      const std::vector<std::uint8_t> packed =
          lone_rows(plain_matrix(chance, e, static_cast<std::int32_t>(batch.rows()) * kColumns, kDim).w);
      std::vector<Bf16> y(batch.rows() * numbers);
      EngramRows p = {};
      p.packed = rows_of(packed, kColumns * lone_row_bytes(e, kDim)), p.batch = batch.view();
      p.columns = kColumns, p.dim = kDim, p.encoding = e, p.y = rows_of(y, numbers);
      repeat(state, host_tables().back()->engram_rows, p, 1, 0);
    });
  }
}

const bool kRegistered = (linears(), joints(), attention(), encodings(), true);

}  // namespace
}  // namespace manyspan::kernels
