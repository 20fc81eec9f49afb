#include "verify/read_through.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file.h"
#include "verify/pieces.h"
#include "verify/sha256.h"

namespace manyspan {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{4} << 20, kSampledPiece = std::uint64_t{64} << 10;

// A file and, where it is wanted, its hash so far.
struct Reading {
  std::optional<File> file;
  std::optional<Sha256> hash;
  std::mutex lock;
  std::condition_variable turn;
  std::size_t next = 0;  // which of its pieces the hash takes next
  std::atomic<bool> broken{false};
};

class Reader {
 public:
  Reader(const Container* container, const Weights* weights, const ReadOptions& options)
      : container_(container),
        options_(options),
        rules_(container == nullptr ? std::vector<Rule>() : rules_of(*container, weights)),
        tally_(container, rules_) {
    for (std::size_t f = 0; container != nullptr && f < container->files(); ++f) add(container->file_path(f));
  }

  // Which of the readings it is.
  std::size_t hash(const std::string& path) {
    const std::size_t at = add(path);
    if (readings_[at]->file) readings_[at]->hash.emplace();
    return at;
  }

  Result<void> run() {
    if (spent_) return *spent_;
    cut();
    std::vector<std::thread> threads;
    const auto wanted = static_cast<std::size_t>(std::max(options_.threads, 1));
    working_ = wanted;
    for (std::size_t i = 0; i < wanted; ++i) {
      try {
        threads.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        const std::lock_guard hold(lock_);
        working_ -= wanted - i;
        break;
      }
    }
    used_ = static_cast<int>(threads.size());
    watch();
    for (std::thread& thread : threads) thread.join();
    if (threads.empty()) return Error(Fault::exhausted, "no thread to read with");
    if (no_memory_)
      return Error(Fault::exhausted, "no memory for " + std::to_string(kPiece) + " bytes a thread");
    if (cancelled()) return Error(Fault::invalid, "cancelled");
    return {};
  }

  ReadThrough result(const std::vector<std::size_t>& hashed) {
    ReadThrough said;
    said.findings = tally_.findings();
    said.warnings = tally_.warnings();
    said.bad = tally_.bad();
    said.scales = tally_.scales();
    said.values = tally_.values();
    said.bytes = done_;
    said.threads = used_;
    std::map<std::size_t, std::string> by_reading;
    for (const std::size_t at : hashed) {
      const auto [place, fresh] = by_reading.try_emplace(at);
      Reading& reading = *readings_[at];
      if (fresh && reading.hash && !reading.broken) place->second = reading.hash->hex();
      said.hashes.push_back(place->second);
    }
    return said;
  }

 private:
  using FileId = std::pair<dev_t, ino_t>;

  // One reading for a file, whatever its names.
  std::size_t add(const std::string& path) {
    struct stat facts = {};
    const bool known = ::stat(path.c_str(), &facts) == 0;
    const FileId id{facts.st_dev, facts.st_ino};
    const std::size_t at = readings_.size();
    // The container's files keep their numbers.
    const bool own = container_ != nullptr && at < container_->files();
    if (known) {
      const auto [place, fresh] = ids_.try_emplace(id, at);
      if (!fresh && !own) return place->second;
    }
    readings_.push_back(std::make_unique<Reading>());
    auto opened = File::open(path);
    if (opened.ok()) {
      readings_.back()->file.emplace(std::move(opened).value());
    } else if (opened.error().fault() == Fault::exhausted) {  // of descriptors: no fault of the file
      if (!spent_) spent_ = opened.error();
    } else {
      readings_.back()->broken = true;
      tally_.unreadable(at, 0, opened.error().message());
    }
    return at;
  }

  void cut() {
    std::vector<FileToRead> files;
    for (const auto& reading : readings_)
      files.push_back({reading->file ? reading->file->size() : 0, reading->hash.has_value()});
    PieceOptions how;
    how.sample = options_.sample;
    how.most_bytes = how.sample < 1 ? kSampledPiece : kPiece;
    how.at_once = static_cast<std::size_t>(std::max(options_.threads, 1));
    pieces_ = pieces_of(container_, rules_, files, how);
    std::vector<std::size_t> counts(files.size());
    places_.reserve(pieces_.size());
    for (const Piece& piece : pieces_) {
      places_.push_back(counts[piece.file]++);
      all_ += piece.bytes;
    }
  }

  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->requested(); }

  void work() {
    try {
      std::vector<std::byte> room(options_.sample < 1 ? kSampledPiece : kPiece);
      for (std::size_t i; !cancelled() && !no_memory_ && (i = ticket_++) < pieces_.size();) take(i, room);
    } catch (const std::bad_alloc&) {
      no_memory_ = true;
      for (const auto& reading : readings_) {
        const std::lock_guard hold(reading->lock);
        reading->turn.notify_all();
      }
    }
    const std::lock_guard hold(lock_);
    --working_;
    done_working_.notify_all();
  }

  void take(std::size_t i, std::span<std::byte> room) {
    const Piece& piece = pieces_[i];
    Reading& reading = *readings_[piece.file];
    const auto part = room.first(piece.bytes);
    if (!reading.broken) {
      if (auto read = reading.file->read_at(piece.from, part); !read.ok()) {
        reading.broken = true;
        tally_.unreadable(piece.file, piece.from, read.error().message());
      } else if (piece.tensor >= 0) {
        const auto tensor = static_cast<std::size_t>(piece.tensor);
        tally_.look(tensor, piece.from - container_->tensors()[tensor].offset, part);
      }
    }
    if (reading.hash) add_in_turn(reading, places_[i], part);
    done_ += piece.bytes;
  }

  // Parts are given out in a file's order, so whoever is waited for is at work. Nobody leaves without a turn, but where
  // memory has run out.
  void add_in_turn(Reading& reading, std::size_t place, Bytes part) {
    {
      std::unique_lock hold(reading.lock);
      reading.turn.wait(hold, [&] { return reading.next == place || no_memory_; });
      if (no_memory_) return;
    }
    if (!reading.broken) reading.hash->add(part);
    const std::lock_guard hold(reading.lock);
    ++reading.next;
    reading.turn.notify_all();
  }

  void watch() {
    constexpr std::chrono::milliseconds kBetween{50};
    std::unique_lock hold(lock_);
    while (!done_working_.wait_for(hold, kBetween, [&] { return working_ == 0; })) {
      hold.unlock();
      if (options_.tick) options_.tick(done_, all_);
      hold.lock();
    }
  }

  const Container* container_;
  const ReadOptions& options_;
  std::vector<Rule> rules_;
  Tally tally_;
  std::vector<std::unique_ptr<Reading>> readings_;
  std::map<FileId, std::size_t> ids_;
  std::optional<Error> spent_;  // what kept a file from being opened
  std::vector<Piece> pieces_;
  std::vector<std::size_t> places_;  // of each piece among those of its file
  std::int64_t all_ = 0;
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::size_t> ticket_{0};
  std::atomic<bool> no_memory_{false};
  std::mutex lock_;
  std::condition_variable done_working_;
  std::size_t working_ = 0;
  int used_ = 0;
};

}  // namespace

Result<ReadThrough> read_through(const Container* container, const Weights* weights,
                                 const std::vector<std::string>& to_hash, const ReadOptions& options) {
  try {
    const auto began = std::chrono::steady_clock::now();
    Reader reader(container, weights, options);
    std::vector<std::size_t> hashed;
    for (const std::string& path : to_hash) hashed.push_back(reader.hash(path));
    TRY(reader.run());
    ReadThrough said = reader.result(hashed);
    said.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return said;
  } catch (const std::bad_alloc&) {
    return Error(Fault::exhausted, "no memory for the list of what to read");
  }
}

}  // namespace manyspan
