/** The id of a container, found in the cgroups and mounts of a process. */

import assert from "node:assert/strict";
import type { ProcFiles } from "../../base/proc_files.ts";
import { containerId } from "./container.ts";

const ID = "4f".repeat(32);
const OTHER = "0a".repeat(32);

/** The files of a process with these texts. */
function files(cgroup: string, mountinfo: string): ProcFiles {
  const texts: Record<string, string> = { "self/cgroup": cgroup, "self/mountinfo": mountinfo };
  const nothing = () => null;
  return { text: (path) => texts[path] ?? null, names: nothing, link: nothing, size: nothing };
}

const CGROUPS: [string, string, string][] = [
  ["Docker, cgroup v1", `12:cpu:/docker/${ID}\n1:name=systemd:/docker/${ID}\n`, ""],
  ["Docker under systemd", `0::/system.slice/docker-${ID}.scope\n`, ""],
  ["Kubernetes", `0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-${ID}.scope`, ""],
  ["a container in a container", `0::/docker/${OTHER}/docker/${ID}\n`, ""],
  [
    "a cgroup namespace",
    "0::/\n",
    `1 2 0:1 /var/lib/docker/containers/${ID}/hostname /etc/hostname rw - ext4 /dev/sda rw\n`,
  ],
  ["Podman", "0::/\n", `1 2 0:1 /x/overlay-containers/${ID}/userdata/hosts /etc/hosts rw - a b\n`],
];

for (const [name, cgroup, mountinfo] of CGROUPS) {
  Deno.test(`the container's id is found in ${name}`, () => {
    assert.equal(containerId(files(cgroup, mountinfo)), ID);
  });
}

Deno.test("neither a layer nor a sandbox nor a plain session is a container", () => {
  const mounts = `1 2 0:1 / / rw - overlay o lowerdir=/var/lib/docker/overlay2/${ID}/diff\n` +
    `1 2 0:1 /cri/sandboxes/${ID}/resolv.conf /etc/resolv.conf rw - a b\n`;
  assert.equal(containerId(files("0::/user.slice/session-1.scope\n", mounts)), undefined);
  assert.equal(containerId(files(`0::/x/${ID}ff\n`, "")), undefined);
});
