/** The devices of a workload, by its environment. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { type DeviceEnvironment, type ListedDevice, visibleDevices } from "./visible.ts";

const H100 = "NVIDIA H100 80GB HBM3";

/** A device at a place of the bus; its UUID begins with a digit of its own. */
function gpu(at: number, name = H100): ListedDevice {
  const hex = at.toString(16);
  return {
    uuid: `GPU-${hex.repeat(8)}-0000-4000-8000-00000000000${hex}`,
    bus_id: `00000000:${(0x1B + at * 0x11).toString(16).toUpperCase().padStart(2, "0")}:00.0`,
    name,
  };
}

/** A MIG device. */
function mig(parent: ListedDevice, gpu_instance: number): ListedDevice {
  const digits = `${parent.uuid.at(-1)}${gpu_instance}`;
  return {
    uuid: `MIG-${digits.repeat(4)}-0000-5000-8000-0000000000${digits}`,
    bus_id: parent.bus_id,
    name: `${parent.name} MIG 1g.10gb`,
    parent_uuid: parent.uuid,
    gpu_instance,
    compute_instance: 0,
  };
}

const FOUR = [gpu(0), gpu(1), gpu(2), gpu(3)];
/** Device 1 is divided. */
const DIVIDED = [gpu(0), gpu(1), mig(gpu(1), 1), mig(gpu(1), 2), gpu(2)];
const MIXED = [gpu(0), gpu(1, "NVIDIA A100-SXM4-80GB"), gpu(2)];

/** Places of the devices to use, and of parents of MIG devices in brackets, as in `listed`. */
function seen(listed: readonly ListedDevice[], env: DeviceEnvironment): string {
  const { devices } = visibleDevices(listed, env);
  return Array.from(devices, ([uuid, use]) => {
    const at = listed.findIndex((device) => device.uuid === uuid);
    return use === "device" ? String(at) : `(${at})`;
  }).join(" ");
}

function cuda(listed: readonly ListedDevice[], value: string, order?: string): string {
  return seen(listed, { CUDA_VISIBLE_DEVICES: value, CUDA_DEVICE_ORDER: order });
}

Deno.test("without a limit all devices are visible", () => {
  assert.equal(seen(FOUR, {}), "0 1 2 3");
  assert.equal(visibleDevices(FOUR, {}).note, null);
  assert.equal(visibleDevices([], {}).note, null);
});

Deno.test("numbers select devices in the order of the bus", () => {
  assert.equal(cuda(FOUR, "2"), "2");
  assert.equal(cuda(FOUR, "3,1"), "3 1");
  assert.equal(cuda(FOUR.toReversed(), "0"), "3");
  assert.equal(cuda(FOUR, " 1 , +2, -0"), "1 2 0");
  assert.equal(cuda(FOUR, "1gpu,2x"), "1 2");
});

Deno.test("the first invalid entry ends the list", () => {
  assert.equal(cuda(FOUR, "0,2,-1,1"), "0 2");
  assert.equal(cuda(FOUR, "0,,1"), "0");
  assert.equal(cuda(FOUR, "0,1,"), "0 1");
  assert.equal(cuda(FOUR, "0,9,1"), "0");
  assert.equal(cuda(FOUR, "1,GPU-0"), "1");
  assert.equal(cuda(FOUR, `${FOUR[1]!.uuid},2`), "1");
  assert.equal(cuda(FOUR, "GPU-1,GPU-f,GPU-2"), "1");
});

Deno.test("an entry that is there twice leaves no device", () => {
  assert.equal(cuda(FOUR, "0,1,0"), "");
  assert.equal(cuda(FOUR, `GPU-1,${FOUR[1]!.uuid}`), "");
});

for (const value of ["", " ", "-1", "NoDevFiles", "none", "one,2", "GPU-", "MIG-"]) {
  Deno.test(`CUDA_VISIBLE_DEVICES="${value}" hides all devices, and it is said`, () => {
    assert.equal(cuda(FOUR, value), "");
    const { note } = visibleDevices(FOUR, { CUDA_VISIBLE_DEVICES: value });
    assert.match(note!, /CUDA_VISIBLE_DEVICES=.* hides all devices/);
  });
}

Deno.test("UUIDs select devices, also by a beginning that one device has", () => {
  assert.equal(cuda(FOUR, FOUR[2]!.uuid), "2");
  assert.equal(cuda(FOUR, "GPU-3,GPU-00000000"), "3 0");
  assert.equal(cuda([...FOUR, { ...gpu(4), uuid: "GPU-3f" }], "GPU-3"), "");
});

Deno.test("numbers count the fastest first, so that models must not differ", () => {
  assert.equal(cuda(MIXED, "0"), "0 1 2");
  assert.match(visibleDevices(MIXED, { CUDA_VISIBLE_DEVICES: "0" }).note!, /PCI_BUS_ID/);
  assert.equal(cuda(MIXED, "1", "FASTEST_FIRST"), "0 1 2");
  assert.equal(cuda(MIXED, "1", "PCI_BUS_ID"), "1");
  assert.equal(cuda(MIXED, "GPU-1"), "1");
  // All of them, in whatever order.
  const all = visibleDevices(MIXED, { CUDA_VISIBLE_DEVICES: "2,0,1" });
  assert.deepEqual([all.devices.size, all.note], [3, null]);
});

Deno.test("a MIG device brings its parent along, which has power and heat", () => {
  const [, parent, one, two] = DIVIDED;
  assert.equal(cuda(DIVIDED, one!.uuid), "(1) 2");
  assert.equal(cuda(DIVIDED, `MIG-${parent!.uuid}/2/0`), "(1) 3");
  assert.equal(cuda(DIVIDED, `MIG-${parent!.uuid}/7/0`), "");
  assert.equal(cuda(DIVIDED, `${two!.uuid},${one!.uuid}`), "(1) 3 2");
  assert.equal(visibleDevices(DIVIDED, { CUDA_VISIBLE_DEVICES: one!.uuid }).note, null);
});

Deno.test("a MIG device with a UUID of the old form is found by it", () => {
  const old = { ...mig(gpu(1), 1), uuid: `MIG-${gpu(1).uuid}/1/0` };
  assert.equal(cuda([gpu(0), gpu(1), old], old.uuid), "(1) 2");
});

Deno.test("a divided device is all its MIG devices, of which a process uses one", () => {
  assert.equal(seen(DIVIDED, {}), "0 (1) 2 3 4");
  assert.equal(cuda(DIVIDED, "1"), "(1) 2 3");
  assert.equal(cuda(DIVIDED, "GPU-1,GPU-2"), "(1) 2 3 4");
  assert.match(visibleDevices(DIVIDED, {}).note!, /2 MIG devices are reported/);
});

Deno.test("NVIDIA_VISIBLE_DEVICES names what a container was given", () => {
  const container = (listed: readonly ListedDevice[], value: string) =>
    seen(listed, { NVIDIA_VISIBLE_DEVICES: value });
  for (const value of ["", "all", "void", "/var/run/nvidia-container-devices"]) {
    assert.equal(container(FOUR, value), "0 1 2 3", value);
  }
  assert.equal(container(FOUR, "none"), "");
  assert.match(visibleDevices(FOUR, { NVIDIA_VISIBLE_DEVICES: "none" }).note!, /=none hides/);
  assert.equal(container(FOUR, FOUR[1]!.uuid), "1");
  assert.equal(container(DIVIDED, DIVIDED[2]!.uuid), "(1) 2");
  // Privileged: all devices are accessible, under the host's numbers.
  assert.equal(container(FOUR, "2,3"), "2 3");
  // Two of the host's, which have other numbers here.
  assert.equal(container(FOUR.slice(0, 2), "5,6"), "0 1");
});

Deno.test("in a container, CUDA's numbers count the container's devices", () => {
  const env = {
    NVIDIA_VISIBLE_DEVICES: `${FOUR[3]!.uuid},${FOUR[1]!.uuid}`,
    CUDA_VISIBLE_DEVICES: "1",
  };
  assert.equal(seen(FOUR, env), "3");
});

Deno.test("any selection is of listed devices, and the listing's order does not matter", () => {
  const entry = fc.oneof(
    fc.integer({ min: -1, max: 5 }).map(String),
    fc.constantFrom("", "x", "GPU-1", "MIG-11", ...DIVIDED.map(({ uuid }) => uuid)),
  );
  fc.assert(fc.property(
    fc.shuffledSubarray(DIVIDED, { minLength: DIVIDED.length }),
    fc.array(entry).map((entries) => entries.join(",")),
    fc.option(fc.constantFrom("PCI_BUS_ID", "FASTEST_FIRST"), { nil: undefined }),
    (listed, value, order) => {
      const env = { CUDA_VISIBLE_DEVICES: value, CUDA_DEVICE_ORDER: order };
      const { devices } = visibleDevices(listed, env);
      assert.deepEqual(
        new Map([...devices].sort()),
        new Map([...visibleDevices(DIVIDED, env).devices].sort()),
      );
      for (const [uuid, use] of devices) {
        const { parent_uuid } = DIVIDED.find((device) => device.uuid === uuid)!;
        if (parent_uuid) assert.equal(devices.get(parent_uuid), "mig_parent");
        else assert.equal(use, uuid === gpu(1).uuid ? "mig_parent" : "device");
      }
    },
  ));
});
