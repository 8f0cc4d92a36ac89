/**
 * Devices that a workload may use, among those that the driver lets this process see. The environment of
 * the run decides; a process may narrow it for itself, which nothing tells.
 */

/** A device or a MIG device, as the driver lists it. */
export interface ListedDevice {
  uuid: string;
  bus_id: string;
  name?: string;
  /** Of a MIG device: the device that it is a part of. */
  parent_uuid?: string;
  gpu_instance?: number;
  compute_instance?: number;
}

/** The workload's devices. */
export interface VisibleDevices {
  /**
   * By UUID: `device` is for the workload to use; a `mig_parent` is not, but has the power, clocks and heat of
   * the MIG devices that are.
   */
  devices: ReadonlyMap<string, "device" | "mig_parent">;
  /** A sentence for the reader where more or less is reported than a process uses; `null` otherwise. */
  note: string | null;
}

/** Environment of a run, as far as it limits devices. */
export type DeviceEnvironment = Readonly<Record<string, string | undefined>>;

/** What a variable selects; `null`: it cannot be told. */
type Selected = ListedDevice[] | null;

/** The devices among `listed` that a workload with `env` may use. */
export function visibleDevices(
  listed: readonly ListedDevice[],
  env: DeviceEnvironment,
): VisibleDevices {
  const offered = offeredDevices(listed, env.NVIDIA_VISIBLE_DEVICES);
  const value = env.CUDA_VISIBLE_DEVICES;
  const selected = value === undefined
    ? offered
    : selectedDevices(offered, value, env.CUDA_DEVICE_ORDER);
  const devices = withRelatives(selected ?? offered, listed);
  return { devices, note: noteOf({ listed, selected, devices, value }) };
}

/**
 * What a container's runtime offers. It has made only these devices accessible, so that the driver lists no
 * others, unless the container is privileged. `void` says nothing: with CDI it stands beside any devices.
 */
function offeredDevices(listed: readonly ListedDevice[], value = ""): ListedDevice[] {
  if (value === "none") return [];
  const entries = value.split(",").map((entry) => entry.trim());
  const { whole, instances } = split(listed);
  // Numbers are the host's: as many as there are devices, they are these devices under other numbers.
  if (entries.every((entry) => /^\d+$/.test(entry)) && entries.length < whole.length) {
    return entries.flatMap((entry) => whole[Number(entry)] ?? []);
  }
  const named = entries.flatMap((entry) =>
    entry.startsWith("GPU-") || entry.startsWith("MIG-")
      ? findByUuid(entry.startsWith("GPU-") ? whole : instances, entry) ?? []
      : []
  );
  return named.length > 0 ? named : [...listed];
}

/**
 * What CUDA makes of `CUDA_VISIBLE_DEVICES`: numbers, UUIDs, or MIG UUIDs, as the first entry is; all before
 * the first one that is invalid; none if one is there twice.
 */
function selectedDevices(
  offered: readonly ListedDevice[],
  value: string,
  order = "FASTEST_FIRST",
): Selected {
  const { whole, instances } = split(offered);
  const entries = value.split(",").map((entry) => entry.trim());
  const form = /^(GPU|MIG)-/.exec(entries[0]!)?.[0];
  if (form) {
    const among = form === "GPU-" ? whole : instances;
    return take(entries, (entry) => entry.startsWith(form) ? findByUuid(among, entry) : null);
  }
  const chosen = take(entries, (entry) => {
    const number = Number(/^[+-]?\d+/.exec(entry)?.[0] ?? -1);
    return number < 0 ? null : whole[number] ?? null;
  });
  const isTold = order === "PCI_BUS_ID" || chosen.length === 0 || chosen.length === whole.length ||
    new Set(whole.map(({ name }) => name)).size === 1;
  return isTold ? chosen : null;
}

function take(
  entries: readonly string[],
  find: (entry: string) => ListedDevice | null,
): ListedDevice[] {
  const taken = new Set<ListedDevice>();
  for (const entry of entries) {
    const device = find(entry);
    if (!device) break;
    if (taken.has(device)) return [];
    taken.add(device);
  }
  return [...taken];
}

/** The one device whose UUID begins with the entry, or that a `MIG-GPU-…/gpu instance/compute instance` means. */
function findByUuid(devices: readonly ListedDevice[], entry: string): ListedDevice | null {
  const [, parent, gpu, compute] = /^MIG-(GPU-.+)\/(\d+)\/(\d+)$/.exec(entry) ?? [];
  const found = devices.filter(({ uuid, parent_uuid, gpu_instance, compute_instance }) =>
    uuid.startsWith(entry) ||
    parent !== undefined && parent_uuid?.startsWith(parent) &&
      gpu_instance === Number(gpu) && compute_instance === Number(compute)
  );
  return found.length === 1 ? found[0]! : null;
}

/** Devices in the order of their places on the bus, and MIG devices. */
function split(devices: readonly ListedDevice[]) {
  return {
    whole: devices.filter(({ parent_uuid }) => parent_uuid === undefined)
      .toSorted((a, b) => a.bus_id.toLowerCase() < b.bus_id.toLowerCase() ? -1 : 1),
    instances: devices.filter(({ parent_uuid }) => parent_uuid !== undefined),
  };
}

/** The devices with the MIG devices of those that are divided, and with the parents of MIG devices. */
function withRelatives(
  chosen: readonly ListedDevice[],
  listed: readonly ListedDevice[],
): VisibleDevices["devices"] {
  const devices = new Map<string, "device" | "mig_parent">();
  for (const { uuid, parent_uuid } of chosen) {
    if (parent_uuid !== undefined) {
      devices.set(parent_uuid, "mig_parent").set(uuid, "device");
      continue;
    }
    const parts = listed.filter((other) => other.parent_uuid === uuid);
    devices.set(uuid, parts.length > 0 ? "mig_parent" : "device");
    for (const part of parts) devices.set(part.uuid, "device");
  }
  return devices;
}

function noteOf({ listed, selected, devices, value }: {
  listed: readonly ListedDevice[];
  selected: Selected;
  devices: VisibleDevices["devices"];
  value: string | undefined;
}): string | null {
  const setting = `CUDA_VISIBLE_DEVICES=${value}`;
  if (selected === null) {
    return `${setting} counts the fastest device first, and the devices here are not of one model: all are ` +
      "reported. Name devices by UUID, or set CUDA_DEVICE_ORDER=PCI_BUS_ID.";
  }
  if (listed.length > 0 && devices.size === 0) {
    return value === undefined
      ? "NVIDIA_VISIBLE_DEVICES=none hides all devices from the workload."
      : `${setting} hides all devices from the workload.`;
  }
  const parts = listed.filter(({ uuid, parent_uuid }) => parent_uuid && devices.has(uuid));
  return parts.length > 1
    ? `${parts.length} MIG devices are reported; a CUDA process uses the first one that it is given.`
    : null;
}
