#include "engine/limits_of.h"

#include <algorithm>

namespace manyspan {

Result<Limits> limits_of(const EngineOptions& o, const Blueprint& b) {
  const std::int64_t context = o.context == 0 ? std::min(b.context, kDefaultContext) : o.context;
  if (context < 1 || context > b.context) {
    return Error(Fault::invalid, "a context of " + std::to_string(context) +
                                     " tokens; the model takes 1 to " + std::to_string(b.context));
  }
  if (o.sessions < 1 || o.sessions > 4096)
    return Error(Fault::invalid, "sessions must be between 1 and 4096");
  if (o.step_rows < 1 || o.step_rows > 65536)
    return Error(Fault::invalid, "step rows must be between 1 and 65536");
  if (o.chunk_beside < 0 || o.chunk_beside > 65536)
    return Error(Fault::invalid, "prompt rows beside others must be between 0 and 65536");
  return Limits{.step_rows = std::max(o.step_rows, o.sessions),
                .sampled_rows = o.every_logit ? std::max(o.step_rows, o.sessions) : o.sessions,
                .sessions = o.sessions,
                .context = static_cast<std::int32_t>(context)};
}

}  // namespace manyspan
