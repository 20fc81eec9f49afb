// Engine::Rooms — what an engine is made of, in the order in which it is opened and, reversed, closed.
#pragma once

#include <memory>
#include <optional>

#include "device/host_device.h"
#include "engine/checkpoint.h"
#include "engine/engine.h"
#include "engine/loop.h"
#include "engine/places.h"
#include "pipeline/pipeline.h"
#include "prepared/engram_rows.h"
#include "session/sessions.h"

namespace manyspan {

struct Engine::Rooms {
  std::unique_ptr<Checkpoint> checkpoint;
  std::unique_ptr<HostDevice> device;
  std::unique_ptr<Places> places;
  std::optional<EngramTables> engram_tables;
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<Sessions> sessions;  // the loop's, once it runs
  std::unique_ptr<Loop> loop;

  EngineFacts facts;
  SnapshotOrigin origin;  // of what this engine saves
};

}  // namespace manyspan
