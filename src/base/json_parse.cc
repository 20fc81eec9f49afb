#include <vector>

#include "base/json.h"
#include "base/json_events.h"
#include "base/json_keys.h"

namespace manyspan {
namespace {

// Keeps everything that is read. Open arrays and objects wait on a stack until they end.
class Keeper : public JsonEvents {
 public:
  explicit Keeper(DuplicateKeys duplicates) : duplicates_(duplicates) {}

  Result<void> scalar(Json value) override {
    place(std::move(value));
    return {};
  }
  Result<void> begin_object() override {
    open_.push_back({Json(Json::Object()), {}, 0});
    return {};
  }
  Result<void> begin_array() override {
    open_.push_back({Json(Json::Array()), {}, 0});
    return {};
  }
  Result<void> key(std::string key) override {
    Open& top = open_.back();
    Json::Object& members = *top.value.object();
    if (duplicates_ == DuplicateKeys::last_wins) {
      if (const auto known = top.keys.add(key)) {
        top.member = *known;
        return {};
      }
    }
    top.member = members.size();
    members.push_back({std::move(key), Json()});
    return {};
  }
  Result<void> end_object() override { return end(); }
  Result<void> end_array() override { return end(); }

  Json take() { return std::move(root_); }

 private:
  struct Open {
    Json value;
    JsonKeys keys;       // only where the last of a repeated key wins
    std::size_t member;  // of an object: whose value comes next
  };

  Result<void> end() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    place(std::move(done));
    return {};
  }
  void place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Json::Object* members = open_.back().value.object()) {
      (*members)[open_.back().member].value = std::move(value);
    } else {
      open_.back().value.push(std::move(value));
    }
  }

  DuplicateKeys duplicates_;
  std::vector<Open> open_;
  Json root_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  Keeper keeper(limits.duplicates);
  TRY(read_json(text, limits, keeper));
  return keeper.take();
}

}  // namespace manyspan
