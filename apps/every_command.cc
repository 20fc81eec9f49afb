#include "apps/command.h"

namespace manyspan::app {

std::vector<std::unique_ptr<Command>> every_command() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(run_command());
  commands.push_back(chat_command());
  commands.push_back(inspect_command());
  commands.push_back(convert_command());
  commands.push_back(verify_command());
  commands.push_back(plan_command());
  commands.push_back(encode_command());
  commands.push_back(tokenize_command());
  commands.push_back(detokenize_command());
  commands.push_back(parse_command());
  commands.push_back(logits_command());
  commands.push_back(bench_command());
  commands.push_back(doctor_command());
  return commands;
}

}  // namespace manyspan::app
