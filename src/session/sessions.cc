#include "session/sessions.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "kernels/round/round.h"

namespace manyspan {

Sessions::Sessions(Pipeline& pipeline, const Blueprint& blueprint, const EngramMap* engram)
    : pipeline_(pipeline), blueprint_(blueprint), engram_(engram), slots_(pipeline.limits().sessions) {
  for (const PageGeometry::Kind& kind : pipeline.geometry().kinds) counts_.emplace_back(kind.pages);
  rows_.resize(pipeline.limits().flights);
  for (Rows& rows : rows_) rows.engram.resize(engram_ == nullptr ? 0 : engram_->layers().size());
}

Result<SessionId> Sessions::open() {
  const auto free = std::find(slots_.begin(), slots_.end(), nullptr);
  if (free == slots_.end()) {
    return Error(Fault::exhausted, "all " + std::to_string(slots_.size()) + " sessions are open");
  }
  const auto slot = static_cast<std::int32_t>(free - slots_.begin());
  *free = std::make_unique<Timeline>(pipeline_.geometry(), counts_, blueprint_.window, slot);
  const SessionId id{++opened_};
  slot_of_[id.value] = slot;
  return id;
}

Timeline& Sessions::mutable_timeline(SessionId id) {
  const auto at = slot_of_.find(id.value);
  CHECK(at != slot_of_.end(), "a session that is open");
  return *slots_[at->second];
}

const Timeline& Sessions::timeline(SessionId id) const {
  return const_cast<Sessions*>(this)->mutable_timeline(id);
}

void Sessions::close(SessionId id) {
  slots_[mutable_timeline(id).slot()].reset();
  slot_of_.erase(id.value);
}

void Sessions::reset(SessionId id) { mutable_timeline(id).reset(); }

Result<SessionId> Sessions::fork(SessionId id) {
  Opened other(*this, TRY(open()));
  mutable_timeline(other.id()).share(timeline(id));
  pipeline_.copy_tails(timeline(id).slot(), timeline(other.id()).slot());
  return other.keep();
}

std::int32_t Sessions::pages_used() const {
  std::int32_t used = 0;
  for (const PageCounts& c : counts_) used += c.used();
  return used;
}

void Sessions::Rows::clear() {
  ids.clear(), classes.clear(), runs.clear(), marks.clear(), sampled.clear(), wishes.clear(),
      engram_views.clear();
  tables = 0;
  for (auto& rows : engram) rows.clear();
}

Result<void> Sessions::check(const Piece& piece) const {
  const Timeline& t = timeline(piece.session);
  CHECK(!piece.tokens.empty(), "a piece has tokens");
  for (const TokenId id : piece.tokens) {
    if (id.value < 0 || id.value >= blueprint_.vocabulary) {
      return Error(Fault::invalid, "token id " + std::to_string(id.value) + " is outside the vocabulary of " +
                                       std::to_string(blueprint_.vocabulary));
    }
  }
  const std::int64_t after = t.length() + static_cast<std::int64_t>(piece.tokens.size());
  if (after > pipeline_.limits().context) {
    return Error(Fault::exhausted, std::to_string(after) + " tokens do not fit the context of " +
                                       std::to_string(pipeline_.limits().context));
  }
  return {};
}

void Sessions::add_engram_rows(Rows& step, const Timeline& timeline, std::span<const std::int32_t> classes) {
  // The last few classes before the piece, then the piece's own.
  const std::vector<std::int32_t>& past = timeline.classes();
  const std::size_t history = std::min<std::size_t>(past.size(), engram_->lookback());
  std::vector<std::int32_t>& window = step.history;
  window.assign(past.end() - history, past.end());
  window.insert(window.end(), classes.begin(), classes.end());
  for (std::size_t layer = 0; layer < step.engram.size(); ++layer) {
    std::vector<std::int64_t>& rows = step.engram[layer];
    const std::size_t before = rows.size();
    rows.resize(before + classes.size() * engram_->columns());
    engram_->rows(layer, window, history, std::span(rows).subspan(before));
  }
}

Result<void> Sessions::add(Rows& rows, const Piece& piece, bool logits) {
  Timeline& t = mutable_timeline(piece.session);
  copies_.clear();
  const auto reserved = t.reserve(static_cast<std::int64_t>(piece.tokens.size()), copies_);
  for (const PageCopy& copy : copies_) pipeline_.copy_page(copy.kind, copy.from, copy.to);
  if (!reserved.ok()) return reserved.error();
  const auto row = static_cast<std::int32_t>(rows.ids.size()),
             count = static_cast<std::int32_t>(piece.tokens.size());
  const auto first = static_cast<std::int32_t>(t.length());
  rows.runs.push_back({t.slot(), {first}, row, count});
  rows.ids.insert(rows.ids.end(), piece.tokens.begin(), piece.tokens.end());
  rows.marks.resize(rows.ids.size(), 0);
  for (const TokenId id : piece.tokens)
    rows.classes.push_back(engram_ == nullptr ? 0 : engram_->class_of(id));
  if (engram_ != nullptr) add_engram_rows(rows, t, std::span(rows.classes).subspan(row));
  const std::int32_t from = piece.want == Want::all ? 0 : piece.want == Want::last ? count - 1 : count;
  for (std::int32_t i = from; i < count; ++i) {
    rows.sampled.push_back(row + i);
    if (logits) continue;
    rows.wishes.push_back(piece.wish);
    rows.wishes.back().position = {first + i + 1};
  }
  return {};
}

Result<void> Sessions::begin(std::span<const Piece> pieces, bool logits, Trace* trace, Depth depth) {
  Rows& rows = rows_[begun_ % rows_.size()];
  rows.clear();
  for (const Piece& piece : pieces) TRY(check(piece));
  for (const Piece& piece : pieces) TRY(add(rows, piece, logits));
  for (const Piece& piece : pieces) {
    if (depth == Depth::all) TRY(blank_above(mutable_timeline(piece.session)));
  }
  rows.pages.resize(std::max(rows.pages.size(), rows.runs.size() * counts_.size()));
  for (const kernels::Run& run : rows.runs) {
    for (std::size_t k = 0; k < counts_.size(); ++k) {
      const auto pages = slots_[run.slot]->pages(k);
      std::vector<std::int32_t>& kept = rows.pages[rows.tables++];
      kept.assign(pages.begin(), pages.end());  // the session's own may change before they are uploaded
      pipeline_.set_pages(k, run.slot, kept);
    }
  }
  for (const auto& engram : rows.engram) rows.engram_views.emplace_back(engram);
  const Batch batch{.ids = rows.ids,
                    .runs = rows.runs,
                    .marks = rows.marks,
                    .sampled = rows.sampled,
                    .wishes = rows.wishes,
                    .engram_rows = rows.engram_views};
  if (trace != nullptr) trace_engram_rows(rows, *trace);
  TRY(pipeline_.begin(batch, logits, trace, depth));
  ++begun_;
  for (const kernels::Run& run : rows.runs) {
    slots_[run.slot]->append(std::span(rows.ids).subspan(run.row, run.rows),
                             std::span(rows.classes).subspan(run.row, run.rows));
    if (depth == Depth::rows) slots_[run.slot]->ran_below(exact_above(slots_[run.slot]->length()));
  }
  return {};
}

Result<Pipeline::Output> Sessions::end() { return pipeline_.end(); }

Result<Pipeline::Output> Sessions::step(std::span<const Piece> pieces, bool logits, Trace* trace,
                                        Depth depth) {
  CHECK(under_way() == 0, "nothing else is under way");
  TRY(begin(pieces, logits, trace, depth));
  return end();
}

void Sessions::trace_engram_rows(const Rows& step, Trace& trace) const {
  for (std::size_t i = 0; i < step.engram.size(); ++i) {
    const auto rows = static_cast<std::int64_t>(step.ids.size());
    const auto to = trace.rows<std::int64_t>("engram_rows", LayerId{blueprint_.engram.layers[i]}, rows,
                                             engram_->columns());
    if (to.data != nullptr) std::copy(step.engram[i].begin(), step.engram[i].end(), to.data);
  }
}

Result<Sessions::SourceRows> Sessions::source_rows(SessionId id, LayerId source) {
  const Timeline& t = timeline(id);
  SourceRows out{t.length() / blueprint_.compress_ratios[source.value], {}, {}};
  const std::int64_t head_dim = blueprint_.head_dim, key_dim = blueprint_.index_dim;
  out.values.resize(out.rows * head_dim);
  out.keys.resize(out.rows * key_dim);
  kernels::SourceView view = source_shape(blueprint_, source);
  const std::size_t kind = pipeline_.geometry().kind_of(view.ratio);
  std::vector<std::byte> page(view.page_bytes());
  const std::vector<std::int32_t> first_page{0};  // the copy is page 0 of a pool of one
  view.table = {first_page.data(), 1};
  const auto codes = [](const std::byte* p) { return reinterpret_cast<const std::uint8_t*>(p); };
  for (std::int64_t row = 0; row < out.rows; ++row) {
    if (row % kernels::kSourcePageRows == 0) {
      pipeline_.read({StatePart::Of::source, source, t.page_of(kind, row * view.ratio)}, page);
      TRY(pipeline_.finish());
    }
    view.pool = page.data();
    const std::int64_t in_page = row % kernels::kSourcePageRows;
    kernels::grid4_row_decode(codes(view.codes(0, in_page)), codes(view.scales(0, in_page)), head_dim,
                              out.values.data() + row * head_dim);
    kernels::grid4_key_decode(codes(view.key_codes(0, in_page)), codes(view.key_scales(0, in_page)), key_dim,
                              out.keys.data() + row * key_dim);
  }
  return out;
}

}  // namespace manyspan
