// Sessions — all conversations of an engine: opens and closes them, runs steps of rows from several at once,
// shortens, forks, saves and restores them.
//
// Owns       timelines and page counts; borrows pipeline and Engram map, which must outlive it
// Threads    one thread at a time
// Spec       house.md 6.2, 6.3; model.md 7, 8.4; docs/cache-and-pages.md, docs/snapshot-format.md
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "pipeline/pipeline.h"
#include "session/snapshot_format.h"
#include "session/timeline.h"
#include "spec/engram_map.h"

namespace manyspan {

class SnapshotFile;

class Sessions {
 public:
  // `engram` is null where the model has no Engram layers.
  Sessions(Pipeline& pipeline, const Blueprint& blueprint, const EngramMap* engram);

  // Errors: exhausted when all slots are taken
  Result<SessionId> open();
  void close(SessionId id);
  bool is_open(SessionId id) const { return slot_of_.contains(id.value); }
  void reset(SessionId id);
  const Timeline& timeline(SessionId id) const;

  // The session holds its first `length` tokens, as if the others had never been. Tokens run again where
  // their window keys are gone; rerun_for() says how many.
  // Requires: 0 ≤ length ≤ the session's
  // Errors: what the pipeline says, exhausted; then the session is empty
  Result<void> truncate(SessionId id, std::int64_t length);
  std::int64_t rerun_for(SessionId id, std::int64_t length) const;

  // A session that holds the same and shares its pages; each goes its own way from here.
  // Errors: exhausted when all slots are taken
  Result<SessionId> fork(SessionId id);

  // A session as a file, and a new session from one: it goes on as the saved one would have. The file depends
  // on the tokens alone, not on how they were run or where their state lay. `origin` is what this engine runs.
  // Errors: snapshot: not_found, exhausted for the file · restore: not_found; corrupt; unsupported: another
  //         version, model or numerics; exhausted: no slot, or longer than the context; then nothing has
  //         changed · both: what the pipeline says
  Result<void> snapshot(SessionId id, const SnapshotOrigin& origin, const std::string& path);
  Result<SessionId> restore(const SnapshotOrigin& origin, const std::string& path);

  enum class Want : std::uint8_t { nothing, last, all };

  // Some more tokens of one session, and which of them to sample after.
  struct Piece {
    SessionId session;
    std::span<const TokenId> tokens;  // not empty
    Want want;
    kernels::Next wish;  // for the rows that are sampled; its position is filled in
  };

  // Exact cone prefill: the first of `length` tokens that must run in all layers, so that a session which holds them is
  // whole, with its spare, and the last one's logits are right. Those before may run with Depth::rows. 0 where no layer
  // lies above the last KV source.
  std::int64_t cone(std::int64_t length) const;
  // Where tokens from `first` on run in all layers and those before ran with Depth::rows: the first position whose
  // window keys are right in every layer. A window later so is what the layers make of them.
  std::int64_t exact_above(std::int64_t first) const;
  // Whether the next token finds all that it reads. Where not, a prompt was broken off between the two depths:
  // truncate(id, its length) makes the session whole.
  bool is_whole(SessionId id) const;

  // Whether a step would take the piece. Errors: as begin()
  Result<void> check(const Piece& piece) const;

  // Begins a step: appends each piece to its session. Sampled rows come in the order of pieces, then of tokens. A
  // session may appear once in a step, and in several steps under way. With `logits` the rows' logits are returned,
  // else the rows are sampled. end() waits for the step that began first; its output holds until as many steps have
  // begun after it as may be under way.
  // Errors: begin: invalid: a token outside the vocabulary · exhausted: a session past the context; these change no
  //         session · what the pipeline says: then the sessions of the step must be reset · end: then those of all
  //         steps that were under way
  // With Depth::rows the pieces want nothing, and what they leave is whole only once tokens up to whole_at() have
  // followed with Depth::all.
  Result<void> begin(std::span<const Piece> pieces, bool logits, Trace* trace = nullptr,
                     Depth depth = Depth::all);
  Result<Pipeline::Output> end();
  std::size_t under_way() const { return pipeline_.under_way(); }

  // Both at once. Like everything else that changes what a session holds, it requires that nothing is under way.
  Result<Pipeline::Output> step(std::span<const Piece> pieces, bool logits, Trace* trace = nullptr,
                                Depth depth = Depth::all);

  // What a KV source holds for a session, decoded: for conformance.
  struct SourceRows {
    std::int64_t rows;
    std::vector<Bf16> values;  // [rows, head_dim]
    std::vector<Bf16> keys;    // [rows, index_dim]
  };
  Result<SourceRows> source_rows(SessionId id, LayerId source);

  std::int32_t pages_used() const;  // of all kinds; 0 when every session is closed or empty

 private:
  // A step as the pipeline is given it, until it has ended.
  struct Rows {
    std::vector<TokenId> ids;
    std::vector<std::int32_t> classes;
    std::vector<kernels::Run> runs;
    std::vector<std::uint8_t> marks;
    std::vector<std::int32_t> sampled;
    std::vector<kernels::Next> wishes;
    std::vector<std::int32_t> history;              // classes before and of one piece
    std::vector<std::vector<std::int64_t>> engram;  // by Engram layer
    std::vector<std::span<const std::int64_t>> engram_views;
    std::vector<std::vector<std::int32_t>> pages;  // by run and kind; the first `tables` of them are in use
    std::size_t tables = 0;
    void clear();
  };
  // A session that was opened, and is closed again unless somebody keeps it.
  class Opened {
   public:
    Opened(Sessions& sessions, SessionId id) : sessions_(&sessions), id_(id) {}
    Opened(Opened&& other) noexcept : sessions_(std::exchange(other.sessions_, nullptr)), id_(other.id_) {}
    ~Opened() {
      if (sessions_ != nullptr) sessions_->close(id_);
    }
    SessionId id() const { return id_; }
    SessionId keep() { return sessions_ = nullptr, id_; }

   private:
    Sessions* sessions_;
    SessionId id_;
  };
  Result<void> add(Rows& rows, const Piece& piece, bool logits);
  void add_engram_rows(Rows& rows, const Timeline& timeline, std::span<const std::int32_t> classes);
  void trace_engram_rows(const Rows& rows, Trace& trace) const;
  Result<void> run_again(SessionId id, std::span<const TokenId> tokens, std::span<const std::int64_t> cuts);
  Result<void> begin_replay(SessionId id, std::int64_t from);
  Result<SessionId> take_in(SnapshotFile& file, std::span<const TokenId> tokens);
  Result<void> blank_above(Timeline& timeline);
  std::vector<std::int32_t> classes_of(std::span<const TokenId> tokens) const;
  Timeline& mutable_timeline(SessionId id);

  Pipeline& pipeline_;
  const Blueprint& blueprint_;
  const EngramMap* engram_;
  std::vector<PageCounts> counts_;
  std::vector<std::unique_ptr<Timeline>> slots_;  // null: free
  std::map<std::int64_t, std::int32_t> slot_of_;
  std::int64_t opened_ = 0;
  std::vector<Rows> rows_;  // of the steps that may be under way; kept, so that steps do not allocate
  std::size_t begun_ = 0;
  std::vector<PageCopy> copies_;
  std::vector<std::byte> zeros_;  // one layer's share of a window page
};

}  // namespace manyspan
