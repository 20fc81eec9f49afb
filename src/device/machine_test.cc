#include "device/machine.h"

#include <gtest/gtest.h>

namespace manyspan {
namespace {

TEST(Machine, IsReadFromItsFile) {
  const Machine m = read_machine(R"({"host_memory_bytes": 1000,
    "devices": [{"name": "gpu0", "kind": "gpu", "memory_bytes": 48, "read_bytes_per_second": 7},
                {"name": "the host", "kind": "cpu", "memory_bytes": 900, "read_bytes_per_second": 3}]})")
                        .value();
  EXPECT_EQ(m.host_memory_bytes, 1000);
  ASSERT_EQ(m.devices.size(), 2u);
  EXPECT_EQ(m.devices[0].name, "gpu0");
  EXPECT_EQ(m.devices[0].kind, DeviceKind::gpu);
  EXPECT_EQ(m.devices[0].memory_bytes, 48);
  EXPECT_EQ(m.devices[0].read_bytes_per_second, 7);
  EXPECT_EQ(m.devices[1].kind, DeviceKind::cpu);
}

std::string why(const std::string& text) {
  const Result<Machine> refused = read_machine(text);
  return refused.ok() ? "taken" : refused.error().message();
}

std::string why_devices(const std::string& devices) { return why("{\"devices\": [" + devices + "]}"); }

TEST(Machine, AWrongFileIsRefusedWithDeviceAndKey) {
  const std::string good = R"({"name": "a", "kind": "gpu", "memory_bytes": 1})";
  EXPECT_EQ(why_devices(good), "taken");
  EXPECT_EQ(why("[]"), "must be an object with \"devices\", is an array");
  EXPECT_EQ(why("{}"), "devices: must be a list of 1 to 64 devices");
  EXPECT_EQ(why_devices(""), "devices: must be a list of 1 to 64 devices");
  EXPECT_EQ(why(R"({"devices": [], "gpus": 8})"), "gpus: no such key; there are host_memory_bytes, devices");
  EXPECT_EQ(why_devices(good + ", 7"), "device 1: must be an object, is an integer");
  EXPECT_EQ(why_devices(good + "," + good), "device 1 (a): name: another device has it");
  EXPECT_EQ(why_devices(R"({"kind": "gpu", "memory_bytes": 1})"), "device 0: name: missing");
  EXPECT_EQ(why_devices(R"({"name": "", "kind": "gpu", "memory_bytes": 1})"),
            "device 0 (): name: must have 1 to 64 bytes, has 0");
  EXPECT_EQ(why_devices(R"({"name": "b", "kind": "tpu", "memory_bytes": 1})"),
            "device 0 (b): kind: must be cpu, gpu or sim, is \"tpu\"");
  EXPECT_EQ(why_devices(R"({"name": "b", "kind": "gpu"})"), "device 0 (b): memory_bytes: missing");
  EXPECT_EQ(why_devices(R"({"name": "b", "kind": "gpu", "memory_bytes": "48 GB"})"),
            "device 0 (b): memory_bytes: must be a whole number from 1 to 1152921504606846976, is a string");
  EXPECT_EQ(why_devices(R"({"name": "b", "kind": "gpu", "memory_bytes": -1})"),
            "device 0 (b): memory_bytes: must be a whole number from 1 to 1152921504606846976, is -1");
  EXPECT_EQ(why_devices(R"({"name": "b", "kind": "gpu", "memory_bytes": 4.8e10})"),
            "device 0 (b): memory_bytes: must be a whole number from 1 to 1152921504606846976, is a number "
            "that is not whole");
  EXPECT_EQ(why_devices(R"({"name": "b", "kind": "gpu", "memory_bytes": 1, "speed": 2})"),
            "device 0 (b): speed: no such key; there are name, kind, memory_bytes, read_bytes_per_second");
  EXPECT_EQ(
      why_devices(good + R"(, {"name": "b", "kind": "gpu", "memory_bytes": 1, "read_bytes_per_second": 2})"),
      "device 1 (b): read_bytes_per_second: give it for all devices or for none");
}

TEST(Machine, SimulatedDevicesHaveNoBound) {
  const Machine m = simulated_machine(3);
  ASSERT_EQ(m.devices.size(), 3u);
  EXPECT_EQ(m.devices[2].name, "sim 2");
  EXPECT_EQ(m.devices[2].memory_bytes, 0);
}

}  // namespace
}  // namespace manyspan
