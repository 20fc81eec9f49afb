#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "apps/command.h"
#include "apps/json_text.h"
#include "apps/model_files.h"
#include "apps/status.h"
#include "apps/streams.h"
#include "apps/token_ids.h"
#include "text/tokenizer.h"

namespace manyspan::app {
namespace {

std::string hex(std::string_view bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

class Detokenize final : public Command {
 public:
  About about() const override {
    return {"detokenize", "Turn token ids on standard input into text",
            "  printf 'In the beginning' | manyspan tokenize | manyspan detokenize"};
  }

  void declare(CLI::App& options) override { declare_model(options, model_); }

  Result<void> defaults(Settings& settings) override { return offer_bundled_model(settings); }

  Result<void> run(const Common& common) override {
    const text::Tokenizer tokenizer = TRY(read_model_tokenizer(model_));
    const std::string input = TRY(read_input(*common.cancel));
    if (common.cancel->requested()) return {};
    const std::vector<TokenId> ids = TRY(read_ids(input, "standard input"));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (tokenizer.has(ids[i])) continue;
      return Error(Fault::corrupt, fmt::format("standard input: entry {}: id {} is outside the {} of {}",
                                               i + 1, ids[i].value, tokenizer.size(), model_));
    }
    const std::string text = TRY(of_file(tokenizer.decode(ids)));
    if (common.json) {
      return write_output(
          json_text({{"text", text}, {"hex", hex(TRY(of_file(tokenizer.decode_bytes(ids))))}}));
    }
    // Exactly the text, so that it can be piped on; only a terminal wants its line ended.
    return write_output(isatty(STDOUT_FILENO) != 0 ? text + "\n" : text);
  }

 private:
  std::string model_;
};

}  // namespace

std::unique_ptr<Command> detokenize_command() { return std::make_unique<Detokenize>(); }

}  // namespace manyspan::app
