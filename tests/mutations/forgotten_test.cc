// Mistakes in how devices work together: a copy that is not made, a wait that is left out, a copy of another
// device's rows that is not kept up, two sessions under one page table. Each must show as an error or as
// other bits.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/mutations/mutated_tables.h"
#include "tests/support/spread.h"

namespace manyspan::test {
namespace {

constexpr Limits kLimits{.step_rows = 48, .sampled_rows = 48, .sessions = 3, .context = 256, .flights = 3};

// Three devices in a row, so that steps run beside each other; or with the first come back to, so that
// everything that can cross does.
struct Model {
  LawCase law;
  bool laps;
};
void PrintTo(const Model& m, std::ostream* out) {
  *out << m.law.short_name << (m.laps ? " in laps" : " in a row");
}
std::vector<Model> models() {
  std::vector<Model> all;
  for (const LawCase& c : over_devices(quick_law_cases())) {
    if (c.table == &kernels::kReference || c.devices != 3) continue;
    all.push_back({c, false});
    all.push_back({c, true});
  }
  return all;
}
Placement placement_of(const Model& m) {
  const std::int32_t layers = checkpoint(m.law.model).blueprint.layers,
                     middle = m.law.short_name == "t1_base" ? 6 : 5;
  if (!m.laps) return cut_at({3, middle, layers});
  return {.stages = {{0, {{{0, 3}, {7, layers}}}}, {1, {{{3, middle}}}}, {2, {{{middle, 7}}}}}};
}

struct Talk {
  std::size_t variant;
  std::int64_t begin = 0;  // tokens that it has had
  SessionId session{-1};
};

// Two sessions that prefill and decode together.
class Pair {
 public:
  static constexpr std::int64_t kSteps = 3;  // in which something may be forgotten

  Pair(const Model& model, const kernels::Table& table)
      : model_(model), spread_(with(model.law, table), kLimits, 1, placement_of(model)) {
    // Where a number was forgotten an older one is used, or -1. It leads to bytes of this session, which has
    // the first pages, and to rows of this step, which is the longest.
    spread_->extend(spread_.sessions().open().value(), law_prompt(model.law.model, 9, 48));
  }

  // Two steps, then `mischief` if there is any, then three that are under way together, each of more rows
  // than the one before; when all have begun, `begun`. Whether there was no error, and every logit right.
  bool run(const std::function<void(SimWorld&)>& mischief = {}, const std::function<void()>& begun = {}) {
    const SessionId a = spread_.sessions().open().value(), b = spread_.sessions().open().value();
    talks_ = {{0, 0, a}, {1, 0, b}};
    begin({{0, 21, Want::last}, {1, 24, Want::last}});
    bool right = all_end_right();
    begin({{0, 1, Want::all}, {1, 1, Want::all}});
    right = all_end_right() && right;
    if (mischief) mischief(spread_.world());
    begin({{1, 2, Want::last}, {0, 1, Want::all}});
    begin({{0, 3, Want::all}, {1, 2, Want::last}});
    begin({{1, 1, Want::all}, {0, 5, Want::last}});
    if (begun) begun();
    right = all_end_right() && right;
    for (const Talk& t : talks_) spread_.sessions().close(t.session);
    return right;
  }
  SimWorld& world() { return spread_.world(); }

 private:
  using Want = Sessions::Want;
  static constexpr std::int64_t kLongest = 40;

  static LawCase with(LawCase law, const kernels::Table& table) {
    law.table = &table;
    return law;
  }
  struct Part {
    std::size_t talk;
    std::int64_t count;
    Want want;
  };
  void begin(const std::vector<Part>& parts) {
    std::vector<std::vector<TokenId>> prompts;
    std::vector<Sessions::Piece> pieces;
    std::vector<float>& right = right_.emplace_back();
    for (const Part& p : parts) {
      Talk& t = talks_[p.talk];
      prompts.push_back(law_prompt(model_.law.model, t.variant, kLongest));
      pieces.push_back({t.session, std::span(prompts.back()).subspan(t.begin, p.count), p.want, {}});
      const std::int64_t end = t.begin + p.count, from = p.want == Want::last ? end - 1 : t.begin;
      const std::vector<float> rows =
          logits_between(model_.law, right_logits(model_.law, t.variant, kLongest), from, end);
      right.insert(right.end(), rows.begin(), rows.end());
      t.begin = end;
    }
    ASSERT_TRUE(spread_.sessions().begin(pieces, true).ok());
  }
  bool all_end_right() {
    bool right = true;
    for (std::size_t i = 0; spread_.sessions().under_way() > 0; ++i) {
      const auto out = spread_.sessions().end();
      if (!out.ok()) {
        right = false;
        continue;
      }
      const Rows<const float>& logits = out.value().logits;
      right =
          right && first_difference(right_[i], {logits.data, logits.data + logits.rows * logits.cols}) == -1;
    }
    right_.clear();
    return right;
  }

  Model model_;
  Spread spread_;
  std::vector<Talk> talks_;
  std::vector<std::vector<float>> right_;  // of the steps under way
};

// One thing that is done at the same place of every step. It is missed when some step shows that it was
// forgotten.
struct Place {
  std::string what;
  int needed = 0, missed = 0;
};
enum class Kind : std::uint8_t { copies, waits };

// What a device does in a step, in order; each forgotten once in each step, all else as it should be.
std::vector<Place> forget_each(Pair& pair, int device, Kind kind) {
  const auto counted = [&] {
    const SimWorld::Counts c = pair.world().counts(device);
    return kind == Kind::copies ? c.copies : c.waits;
  };
  std::int64_t before = 0, begun = 0;
  EXPECT_TRUE(pair.run([&](SimWorld&) { before = counted(); }, [&] { begun = counted() - before; }));
  const std::int64_t count = counted() - before;
  // Every step does the same: first the first lap of each, then the second.
  EXPECT_EQ(begun % Pair::kSteps, 0);
  EXPECT_EQ(count % Pair::kSteps, 0);
  const std::int64_t first = begun / Pair::kSteps, second = count / Pair::kSteps - first;
  const auto place_of = [&](std::int64_t k) { return k < begun ? k % first : first + (k - begun) % second; };
  std::vector<Place> places(first + second);
  for (std::int64_t k = 0; k < count; ++k) {
    const SimWorld::Forgotten had = pair.world().forgotten();
    const bool right = pair.run([&](SimWorld& world) {
      kind == Kind::copies ? world.forget_copy(device, k) : world.forget_wait(device, k);
    });
    const SimWorld::Forgotten& has = pair.world().forgotten();
    const bool needed = has.lost_copies + has.lost_waits != had.lost_copies + had.lost_waits;
    Place& place = places[place_of(k)];
    EXPECT_EQ(has.copies + has.waits, had.copies + had.waits + 1);
    EXPECT_TRUE(place.what.empty() || place.what == has.what);
    EXPECT_TRUE(needed || right) << has.what << ": what cost nothing is not missed";
    place.what = has.what;
    place.needed += needed, place.missed += !right;
  }
  return places;
}

bool has_a_compressor(const Blueprint& b, const StageLayers& layers) {
  return std::ranges::any_of(b.kv_sources, [&](std::int32_t source) {
    return layers.has({source}) && b.compress_ratios[source] > 1;
  });
}

std::string model_name(const testing::TestParamInfo<Model>& info) {
  return info.param.law.short_name + (info.param.laps ? "_in_laps" : "_in_a_row");
}

class ForgottenSlow : public testing::TestWithParam<Model> {};

// Whatever crosses, comes home or is put into place. Only of the batch a stage gets more than its layers
// read, as every stage gets all of it: ids where the first layer is elsewhere, sampled rows where the last
// one is, and runs with their rows' places in them where no source joins several positions.
TEST_P(ForgottenSlow, EveryCopyThatBringsSomethingNewIsMissed) {
  Pair pair(GetParam(), *GetParam().law.table);
  const Blueprint& b = checkpoint(GetParam().law.model).blueprint;
  const Placement placement = placement_of(GetParam());
  for (int d = 0; d < 3; ++d) {
    const StageLayers& layers = placement.stages[d].layers;
    std::int64_t needed = 0, unread = 0;
    for (const Place& p : forget_each(pair, d, Kind::copies)) {
      needed += p.needed > 0;
      if (p.needed == 0 || p.missed > 0) continue;
      EXPECT_EQ(p.what,
                "copy from the host to sim " + std::to_string(d) + " by sim " + std::to_string(d) + " main");
      ++unread;
    }
    EXPECT_GT(needed, 10) << "device " << d;
    EXPECT_EQ(unread, !layers.has({0}) + !layers.has({b.layers - 1}) + 2 * !has_a_compressor(b, layers))
        << "device " << d;
  }
}

// Every wait that orders something, in every step. Each is needed; but where the first device is come back to, there is a
// landing place for every step under way, and so none that is still to be emptied.
TEST_P(ForgottenSlow, EveryWaitThatOrdersSomethingIsMissed) {
  Pair pair(GetParam(), *GetParam().law.table);
  std::set<std::string> idle;
  for (int d = 0; d < 3; ++d) {
    for (const Place& p : forget_each(pair, d, Kind::waits)) {
      EXPECT_EQ(p.missed, p.needed) << p.what;
      if (p.needed == 0) idle.insert(p.what);
    }
  }
  const std::set<std::string> for_room = {"sim 2 copy's wait for sim 0 main"};
  EXPECT_EQ(idle, GetParam().laps ? for_room : std::set<std::string>{});
}
INSTANTIATE_TEST_SUITE_P(Tiny, ForgottenSlow, testing::ValuesIn(models()), model_name);

class MistakenTables : public testing::TestWithParam<Model> {
 protected:
  bool still_right(const kernels::Table& table) { return Pair(GetParam(), table).run(); }
  const kernels::Table& table() { return *GetParam().law.table; }
};
TEST_P(MistakenTables, TheUnchangedTableIsRight) { EXPECT_TRUE(still_right(table())); }
TEST_P(MistakenTables, ACopyOfRowsThatIsNotKeptUpIsSeen) { EXPECT_FALSE(still_right(append_off(table()))); }
TEST_P(MistakenTables, ASharedTableOfWindowPagesIsSeen) {
  EXPECT_FALSE(still_right(window_pages_shared(table())));
}
TEST_P(MistakenTables, ASharedTableOfSourcePagesIsSeen) {
  EXPECT_FALSE(still_right(source_pages_shared(table())));
}
INSTANTIATE_TEST_SUITE_P(Tiny, MistakenTables, testing::ValuesIn(models()), model_name);

}  // namespace
}  // namespace manyspan::test
