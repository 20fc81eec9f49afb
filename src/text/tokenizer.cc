#include "text/tokenizer.h"

#include <utility>

#include "base/file.h"
#include "base/utf8.h"
#include "text/pretokenize.h"
#include "text/tokenizer_json.h"

namespace manyspan::text {
Result<Tokenizer> Tokenizer::open(const std::string& path) {
  const std::string json = TRY(read_file(path, kLargestTokenizerFile));
  return parse(json, path);
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& name) {
  const Vocabulary vocabulary = TRY(read_tokenizer_json(json, name));
  return create(vocabulary, name);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, bool match_added) const {
  const TextRun run{text, match_added};
  return encode({&run, 1});
}

std::vector<TokenId> Tokenizer::encode(std::span<const TextRun> runs) const {
  struct Stretch {
    std::size_t begin, end;
  };
  std::string text;
  std::vector<Stretch> matching;
  for (const TextRun& run : runs) {
    const std::size_t begin = text.size();
    is_valid_utf8(run.text) ? text += run.text : text += replace_invalid_utf8(run.text);
    if (!run.match_added) continue;
    if (!matching.empty() && matching.back().end == begin) {
      matching.back().end = text.size();
    } else {
      matching.push_back({begin, text.size()});
    }
  }

  std::vector<TokenId> ids;
  const std::string_view whole = text;
  std::size_t done = 0;
  for (const Stretch& stretch : matching) {
    std::size_t from = stretch.begin;
    while (const auto found = added_.find(whole, from, stretch.end)) {
      encode_plain(whole.substr(done, found->begin - done), ids);
      ids.push_back(found->id);
      done = from = found->end;
    }
  }
  encode_plain(whole.substr(done), ids);
  return ids;
}

void Tokenizer::encode_plain(std::string_view text, std::vector<TokenId>& ids) const {
  PieceCutter pieces(text);
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) bpe_.encode(piece, ids);
}

Result<std::string> Tokenizer::decode(std::span<const TokenId> ids) const {
  return replace_invalid_utf8(TRY(decode_bytes(ids)));
}

Result<std::string> Tokenizer::decode_bytes(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) {
    if (!has(id)) {
      return Error(Fault::invalid, "token id " + std::to_string(id.value) + " is outside the vocabulary of " +
                                       std::to_string(size()) + " tokens");
    }
    bytes += bytes_of(id);
  }
  return bytes;
}

std::string_view Tokenizer::bytes_of(TokenId id) const {
  if (!has(id)) return {};
  const auto index = static_cast<std::size_t>(id.value);
  const std::size_t begin = index > 0 ? ends_[index - 1] : 0;
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

}  // namespace manyspan::text
