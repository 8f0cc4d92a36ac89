/** Reading of what nvidia-smi prints. */

import assert from "node:assert/strict";
import { monitorReader, QUERY, readQuery } from "./smi.ts";

Deno.test("a line of --query-gpu has a value or none for each metric", () => {
  const line =
    "37, 5, 1024, 81559, 41, [N/A], 118.42, 700.00, 1980, 2619, 1980, [N/A], 5, 5, 16, 16";
  const values = readQuery(line);
  assert.equal(values.size, QUERY.length);
  assert.equal(values.get("gpu_utilization_percent"), 37);
  assert.equal(values.get("gpu_memory_used_bytes"), 2 ** 30);
  assert.equal(values.get("gpu_memory_temperature_celsius"), null);
  assert.equal(values.get("gpu_power_usage_watts"), 118.42);
  assert.equal(values.get("gpu_pcie_max_link_width"), 16);
});

Deno.test("lines of dmon are read by the names of their columns", () => {
  const read = monitorReader();
  assert.equal(read("# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec  rxpci  txpci"), null);
  assert.equal(read("# Idx      W      C      C      %      %      %      %   MB/s   MB/s"), null);
  const values = read("    0     71     31      -     12      3      0      0      2      1");
  assert.deepEqual([...values!], [
    ["gpu_power_usage_watts", 71],
    ["gpu_temperature_celsius", 31],
    ["gpu_memory_temperature_celsius", null],
    ["gpu_utilization_percent", 12],
    ["gpu_memory_utilization_percent", 3],
    ["gpu_pcie_throughput_rx_kilobytes_per_second", 2000],
    ["gpu_pcie_throughput_tx_kilobytes_per_second", 1000],
  ]);
});

Deno.test("columns of GPM are the last ones, under whatever names", () => {
  const read = monitorReader();
  read("# gpu    pwr  SmUtil  SmOccup  TnsUtil  DramUtil");
  const values = read("    0     71      9        3        -         1");
  assert.equal(values!.get("gpu_sm_utilization_percent"), 9);
  assert.equal(values!.get("gpu_tensor_utilization_percent"), null);
  assert.equal(values!.get("gpu_dram_bandwidth_utilization_percent"), 1);
});
