// tokenizer — text to token ids by byte-level byte pairs, and ids back to bytes.
//
// Specification: tokenizer, sections 3 to 5.
//
// Owns       everything it needs; the text of the file may go once it is open
// Errors     all that a tokenizer file can get wrong, see tokenizer_json.h; merges or spellings that do not
//            fit the vocabulary; an id outside the vocabulary
// Threads    a const Tokenizer may be used by any number
// Cost       n log n in the longest piece, else linear in the text
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "text/added_tokens.h"
#include "text/bpe.h"
#include "text/vocabulary.h"

namespace manyspan::text {

// Part of a prompt. Only where a template wrote the text may it match added tokens: what a user typed must
// not.
struct TextRun {
  std::string_view text;
  bool match_added;
};

class Tokenizer {
 public:
  static Result<Tokenizer> open(const std::string& path);
  static Result<Tokenizer> parse(std::string_view json, const std::string& name);  // `name` is for messages
  static Result<Tokenizer> create(const Vocabulary& vocabulary, const std::string& name);

  // Invalid UTF-8 is replaced by U+FFFD. Nothing is added before or after.
  std::vector<TokenId> encode(std::string_view text, bool match_added) const;

  // As of the one text that the runs make up: pieces and merges cross from run to run. An added token is
  // matched only if all of it lies in neighbouring runs that may match.
  std::vector<TokenId> encode(std::span<const TextRun> runs) const;

  Result<std::string> decode(std::span<const TokenId> ids) const;        // invalid UTF-8 replaced by U+FFFD
  Result<std::string> decode_bytes(std::span<const TokenId> ids) const;  // as they are

  std::size_t size() const { return ends_.size(); }
  bool has(TokenId id) const { return id.value >= 0 && static_cast<std::size_t>(id.value) < size(); }

  // Of an id outside the vocabulary: none, and no control token. A model may have more ids than its
  // tokenizer.
  std::string_view bytes_of(TokenId id) const;
  bool is_control(TokenId id) const { return has(id) && control_[static_cast<std::size_t>(id.value)]; }

  // The id of the added token with this text.
  std::optional<TokenId> control(std::string_view text) const { return added_.id_of(text); }

 private:
  Tokenizer(Bpe bpe, AddedTokens added) : bpe_(std::move(bpe)), added_(std::move(added)) {}

  void encode_plain(std::string_view text, std::vector<TokenId>& ids) const;

  Bpe bpe_;
  AddedTokens added_;
  std::string bytes_;                // of all tokens, by id
  std::vector<std::uint32_t> ends_;  // of each token in bytes_
  std::vector<bool> control_;        // by id: an added token
};

}  // namespace manyspan::text
