// sim_operation — an operation in a simulated queue: it says what it will touch, and is done later.
//
// Threads    as the world
#pragma once

#include <cstdint>
#include <memory>

#include "device/device.h"
#include "device/field.h"

namespace manyspan {

// The bytes from an address on that an operation touches.
struct SimExtent {
  std::int64_t row_bytes = 0;
  std::int64_t rows = 1;
  std::int64_t stride = 0;  // bytes from one row to the next
  bool rest = false;        // all that is left of the buffer

  std::int64_t bytes() const {
    return rest || rows <= 0 || row_bytes <= 0 ? 0 : (rows - 1) * stride + row_bytes;
  }
};

class SimOperation {
 public:
  // Who is told what the operation will touch.
  class Touches {
   public:
    virtual ~Touches() = default;
    virtual void touch(Field field, const void* address, const SimExtent& extent, bool writes) = 0;
  };

  // Finds the bytes behind device addresses. After the first that it can't find, the operation must not be
  // done.
  class Translation {
   public:
    virtual ~Translation() = default;
    virtual void* find(Field field, const void* address, const SimExtent& extent) = 0;
    virtual bool failed() const = 0;
  };

  virtual ~SimOperation() = default;
  virtual const char* name() const = 0;  // a literal
  virtual void touches(Touches& told) = 0;
  virtual void run(Translation& translation, Queue& host) = 0;
};

// A queue of a simulated device.
class SimQueue : public Queue {
 public:
  virtual const void* table() const = 0;  // what SimWorld::set_table gave the device; null: nothing
  virtual void enqueue(std::unique_ptr<SimOperation> operation) = 0;
};

// Requires a queue of a simulated device.
SimQueue& sim_queue(Queue& queue);

}  // namespace manyspan
