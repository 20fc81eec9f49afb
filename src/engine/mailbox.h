// Mailbox — pieces of text on their way from the loop's thread to the caller whose request they answer.
//
// It takes all that comes, however slow the caller's sink is: at most one answer.
//
// Threads    one thread puts and closes, another takes
#pragma once

#include <condition_variable>
#include <iterator>
#include <mutex>
#include <vector>

#include "text/parse.h"

namespace manyspan {

class Mailbox {
 public:
  void put(std::vector<text::OutputPiece> pieces) {
    if (pieces.empty()) return;
    {
      const std::lock_guard lock(mutex_);
      pieces_.insert(pieces_.end(), std::make_move_iterator(pieces.begin()),
                     std::make_move_iterator(pieces.end()));
    }
    came_.notify_one();
  }

  // Nothing is put any more. Told under the lock: the mailbox may be gone as soon as it is free.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    came_.notify_one();
  }

  // Waits for pieces, in the order in which they were put. False: there are none, and none will come.
  bool take(std::vector<text::OutputPiece>& pieces) {
    pieces.clear();
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return closed_ || !pieces_.empty(); });
    pieces.swap(pieces_);
    return !pieces.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<text::OutputPiece> pieces_;
  bool closed_ = false;
};

}  // namespace manyspan
