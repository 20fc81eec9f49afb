#include "verify/sha256.h"

#include <array>
#include <openssl/evp.h>

#include "base/check.h"

namespace manyspan {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    CHECK(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1, "no SHA-256");
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::add(Bytes part) {
  CHECK(EVP_DigestUpdate(state_->context, part.data(), part.size()) == 1, "SHA-256 takes any bytes");
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int bytes = 0;
  CHECK(EVP_DigestFinal_ex(state_->context, digest.data(), &bytes) == 1 && bytes == 32, "SHA-256 ends once");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < bytes; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace manyspan
