#include "tests/support/evaluation.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace manyspan::test {
namespace {

nlohmann::json read(const char* name) {
  return nlohmann::json::parse(std::ifstream(bundled_model() + "/eval/" + name));
}

std::vector<TokenId> ids(const nlohmann::json& list) { return ids_of(list.get<std::vector<std::int32_t>>()); }

std::vector<Question> questions(const char* name) {
  std::vector<Question> all;
  const nlohmann::json file = read(name);
  for (const auto& c : file.at("cases")) {
    Question q{c.value("id", c.at("question").get<std::string>()),
               ids(c.at("prompt_ids")),
               ids(c.at("answer_ids")),
               {}};
    if (c.contains("strict_greedy_ids")) q.strict_greedy = ids(c.at("strict_greedy_ids"));
    all.push_back(std::move(q));
  }
  return all;
}

}  // namespace

std::vector<Question> lookups() { return questions("lookup.json"); }
std::vector<Question> world() { return questions("world.json"); }

std::vector<Passage> passages() {
  std::vector<Passage> all;
  const nlohmann::json file = read("passages.json");
  for (const auto& p : file.at("passages")) {
    all.push_back(
        {p.at("source").get<std::string>(), ids(p.at("ids")), p.at("perplexity_strict").get<double>()});
  }
  return all;
}

Score score(ModelRig& rig, const std::vector<Question>& questions, std::size_t stride) {
  Score s;
  for (std::size_t i = 0; i < questions.size(); i += stride) {
    const Question& q = questions[i];
    const std::vector<TokenId> said = rig.greedy(q.prompt, std::max(q.answer.size(), q.strict_greedy.size()));
    ++s.asked;
    s.right += said == q.answer;
    s.as_strict += said == q.strict_greedy;
  }
  return s;
}

double perplexity(ModelRig& rig, const Passage& passage) {
  const std::vector<float> logits = rig.logits(passage.ids);
  const std::size_t vocabulary = logits.size() / passage.ids.size();
  double loss = 0;
  for (std::size_t t = 0; t + 1 < passage.ids.size(); ++t) {
    const float* row = logits.data() + t * vocabulary;
    double most = row[0], sum = 0;
    for (std::size_t v = 0; v < vocabulary; ++v) most = std::max<double>(most, row[v]);
    for (std::size_t v = 0; v < vocabulary; ++v) sum += std::exp(row[v] - most);
    loss += most + std::log(sum) - row[passage.ids[t + 1].value];
  }
  return std::exp(loss / static_cast<double>(passage.ids.size() - 1));
}

}  // namespace manyspan::test
