// prompt — from what a client asks to a Request: the prompt's ids, and how the answer is to be taken apart.
//
// Sampling and limits are the caller's: a chat request may name some, and who wins is not decided here.
//
// Errors     invalid for what no prompt can be made of; unsupported for images, and for a tokenizer that
//            lacks a control token
// Spec       encoding.md 2 to 7; command line, `run`
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/request.h"
#include "text/chat_request.h"
#include "text/tokenizer.h"

namespace manyspan {

// One question, as a client would ask it. Requires UTF-8.
Result<text::ChatRequest> question(std::string_view text);

// How to think, in the words of options and of generation_config.json: off, on, low, high, max or 1 to 100.
// `on` leaves the effort to the request.
Result<void> set_thinking(text::ChatRequest& chat, const std::string& thinking);

Result<Request> request_of(const text::ChatRequest& chat, const text::Tokenizer& tokenizer);

// Of ids that are the whole prompt. They tell whether the answer begins inside the reasoning. The tokenizer may be
// null.
Request request_of(std::vector<TokenId> ids, const text::Tokenizer* tokenizer);

}  // namespace manyspan
