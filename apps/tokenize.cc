#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/model_files.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/token_ids.h"
#include "text/tokenizer.h"

namespace manyspan::app {
namespace {

class Tokenize final : public Command {
 public:
  About about() const override {
    return {"tokenize", "Turn text on standard input into token ids",
            "  printf 'In the beginning' | manyspan tokenize"};
  }

  void declare(CLI::App& options) override {
    declare_model(options, model_);
    options.add_flag("--plain", plain_, "Take text that spells a control token as text");
  }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    const text::Tokenizer tokenizer = TRY(read_model_tokenizer(model_));
    const std::string input = TRY(read_input(*common.cancel));
    if (common.cancel->requested()) return {};
    const std::vector<std::int32_t> ids = numbers(tokenizer.encode(input, !plain_));
    return write_output(common.json ? json_text({{"ids", ids}}) : fmt::format("{}\n", fmt::join(ids, " ")));
  }

 private:
  std::string model_;
  bool plain_ = false;
};

}  // namespace

std::unique_ptr<Command> tokenize_command() { return std::make_unique<Tokenize>(); }

}  // namespace manyspan::app
