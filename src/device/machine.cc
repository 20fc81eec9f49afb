#include "device/machine.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/json.h"

namespace manyspan {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;
constexpr std::size_t kMostName = 64;

Error corrupt(std::string what) { return Error(Fault::corrupt, std::move(what)); }

Result<void> check_keys(const Json& object, std::initializer_list<std::string_view> known) {
  for (const JsonMember& member : *object.object()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string list;
    for (const std::string_view key : known) list += (list.empty() ? "" : ", ") + std::string(key);
    return corrupt(member.key.substr(0, kMostName) + ": no such key; there are " + list);
  }
  return {};
}

Result<std::int64_t> whole(const Json& object, std::string_view key, std::optional<std::int64_t> otherwise) {
  const Json* value = object.find(key);
  if (value == nullptr) {
    if (otherwise) return *otherwise;
    return corrupt(std::string(key) + ": missing");
  }
  const std::optional<std::int64_t> number = value->integer();
  if (number && *number >= 1 && *number <= kMostBytes) return *number;
  const std::string is = value->is_integer() ? compact_json(*value)
                         : value->number()   ? "a number that is not whole"
                                             : std::string(value->kind_name());
  return corrupt(std::string(key) + ": must be a whole number from 1 to " + std::to_string(kMostBytes) +
                 ", is " + is.substr(0, kMostName));
}

Result<std::string> text(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  if (value == nullptr) return corrupt(std::string(key) + ": missing");
  const std::string* found = value->string();
  if (found == nullptr) {
    return corrupt(std::string(key) + ": must be a string, is " + std::string(value->kind_name()));
  }
  if (found->empty() || found->size() > kMostName) {
    return corrupt(std::string(key) + ": must have 1 to " + std::to_string(kMostName) + " bytes, has " +
                   std::to_string(found->size()));
  }
  return *found;
}

Result<Machine::Device> read_device(const Json& object) {
  TRY(check_keys(object, {"name", "kind", "memory_bytes", "read_bytes_per_second"}));
  Machine::Device device{.name = TRY(text(object, "name")), .kind = DeviceKind::cpu};
  const std::string kind = TRY(text(object, "kind"));
  bool known = false;
  for (const DeviceKind k : {DeviceKind::cpu, DeviceKind::gpu, DeviceKind::sim}) {
    if (kind == name(k)) device.kind = k, known = true;
  }
  if (!known) return corrupt("kind: must be cpu, gpu or sim, is \"" + kind + "\"");
  device.memory_bytes = TRY(whole(object, "memory_bytes", std::nullopt));
  device.read_bytes_per_second = TRY(whole(object, "read_bytes_per_second", 0));
  return device;
}

// "device 2 (gpu2)"; without a name where it has none to be read.
std::string place_of(std::size_t number, const Json& object) {
  const Json* name = object.find("name");
  const std::string place = "device " + std::to_string(number);
  if (name == nullptr || name->string() == nullptr) return place;
  return place + " (" + name->string()->substr(0, kMostName) + ")";
}

}  // namespace

std::string_view name(DeviceKind kind) {
  constexpr std::string_view kNames[] = {"cpu", "gpu", "sim"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Machine> read_machine(std::string_view file) {
  const Json json = TRY(parse_json(file));
  if (json.object() == nullptr) {
    return corrupt("must be an object with \"devices\", is " + std::string(json.kind_name()));
  }
  TRY(check_keys(json, {"host_memory_bytes", "devices"}));
  Machine machine;
  machine.host_memory_bytes = TRY(whole(json, "host_memory_bytes", 0));
  const Json* devices = json.find("devices");
  const Json::Array* list = devices == nullptr ? nullptr : devices->array();
  if (list == nullptr || list->empty() || list->size() > kMostDevices) {
    return corrupt("devices: must be a list of 1 to " + std::to_string(kMostDevices) + " devices");
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& object = (*list)[i];
    if (object.object() == nullptr) {
      return corrupt("must be an object, is " + std::string(object.kind_name())).within(place_of(i, object));
    }
    Result<Machine::Device> device = read_device(object);
    if (!device.ok()) return std::move(device).error().within(place_of(i, object));
    if (!names.insert(device.value().name).second) {
      return corrupt("name: another device has it").within(place_of(i, object));
    }
    machine.devices.push_back(std::move(device).value());
    const bool said = machine.devices.back().read_bytes_per_second != 0;
    if (said != (machine.devices.front().read_bytes_per_second != 0)) {
      return corrupt("read_bytes_per_second: give it for all devices or for none")
          .within(place_of(i, object));
    }
  }
  return machine;
}

Machine simulated_machine(int count) {
  Machine machine;
  for (int i = 0; i < count; ++i) {
    machine.devices.push_back({.name = "sim " + std::to_string(i), .kind = DeviceKind::sim});
  }
  return machine;
}

}  // namespace manyspan
