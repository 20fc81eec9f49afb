// ChatHistory — what was said so far, as messages that a client could send.
//
// Errors     of load: not_found, corrupt, unsupported, with the file's name, and the history is as before · of save: as
//            write_file_atomically
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "engine/request.h"
#include "text/chat_request.h"

namespace manyspan::app {

class ChatHistory {
 public:
  ChatHistory() { reset(); }

  void reset();
  void say(std::string_view user);
  void answered(const Answer& answer);
  void take_back();  // the last message

  std::size_t messages() const;

  // The conversation as a request; other fields than `messages` are those of the file that was loaded.
  Result<text::ChatRequest> request() const;

  // A message list, or an API request body with one. Saved as a list where nothing but messages is known; either
  // form can be given to --messages.
  Result<void> load(const std::string& path);
  Result<void> save(const std::string& path) const;

 private:
  Json& list();

  Json body_;  // always with `messages`, an array
};

}  // namespace manyspan::app
