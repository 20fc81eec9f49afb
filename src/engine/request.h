// request — one turn: ids in, limits, sampling; what comes back while it runs, and at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "model/trace_store.h"
#include "text/parse.h"

namespace manyspan {

using text::OutputPiece;
using text::ParsedCall;

struct Sampling {
  float temperature = 0;   // 0: greedy
  float top_p = 1;         // in (0, 1]
  float min_p = 0;         // in [0, 1)
  std::int32_t top_k = 0;  // 0: all
  std::uint64_t seed = 0;  // the draw depends on it and the position alone
};

struct Request {
  std::vector<TokenId> prompt{};  // not empty
  std::int64_t max_tokens = 0;    // 0: as many as fit the context
  bool past_end = false;          // the model's end token ends nothing: for measuring
  Sampling sampling{};
  std::vector<std::string> stop{};  // at most 16, none empty
  // How the output is taken apart. Plain: nothing but text and stop strings.
  bool plain = false;
  bool thinking = false;      // the prompt ended inside the reasoning
  bool tools = true;          // tool markup becomes calls
  bool inside_calls = false;  // the prompt ended by opening a block of calls
};

enum class Finish : std::uint8_t { stop, stop_sequence, length, cancelled };

struct Answer {
  std::vector<TokenId> ids;  // generated, the stop token included
  std::string text;          // without reasoning and calls
  std::string reasoning;
  std::vector<ParsedCall> calls;
  std::optional<std::string> stop_sequence;
  Finish finish = Finish::stop;
  std::int64_t prompt_tokens = 0, reused_tokens = 0;  // of the prompt, not run again
  double prefill_seconds = 0, decode_seconds = 0;     // to the first token, and after it
};

// As the command line and the HTTP API name it: "stop", "length", "tool_calls", "cancelled".
std::string_view finish_reason(const Answer& answer);

struct LogitsRequest {
  std::vector<TokenId> ids{};
  std::int64_t prompt = 0;             // the first `prompt` ids are run in chunks, the rest one at a time
  std::vector<std::int64_t> chunks{};  // lengths, their sum is `prompt`; empty: as long as the engine's step
  std::vector<std::string> taps{};     // of the prompt: "L3.attn_in", or a name for all layers, "attn_in"
  bool cone = false;                   // early tokens of the prompt run up to the last KV source only
};

struct Logits {
  std::int64_t vocabulary = 0;
  // Where every layer is computed, and so the first position of prefill; above 0 only with a cone. Taps of the last KV
  // source and of layers above that it does not reach begin there too.
  std::int64_t first = 0;
  std::vector<float> prefill;  // [prompt - first, vocabulary]
  std::vector<float> decode;   // [ids - prompt, vocabulary]
  struct Tap {
    TapType type;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, Tap> taps;
};

}  // namespace manyspan
