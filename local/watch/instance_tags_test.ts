import assert from "node:assert/strict";
import { containerId, instanceTags } from "./instance_tags.ts";

const place = { id: "0123456789ab", env: {}, hostname: "box", pid: 42 };
const ID = "4f".repeat(32);
const OTHER = "0a".repeat(32);

Deno.test("an instance is tagged with its id, host and process", () => {
  assert.deepEqual(instanceTags(place), {
    "instance.id": "0123456789ab",
    "host.name": "box",
    "process.pid": "42",
  });
});

Deno.test("an instance is tagged with what its launcher says of it, where it says something", () => {
  const env = { RANK: "3", LOCAL_RANK: "1", WORLD_SIZE: "8", SLURM_JOB_ID: "77", POD_UID: "" };
  const tags = instanceTags({ ...place, env: { ...env, PATH: "/bin" }, containerId: ID });
  assert.equal(tags["process.rank"], "3");
  assert.equal(tags["process.local_rank"], "1");
  assert.equal(tags["process.world_size"], "8");
  assert.equal(tags["slurm.job_id"], "77");
  assert.equal(tags["container.id"], ID);
  assert.equal("pod.uid" in tags, false);
});

Deno.test("given tags win over the environment's, which win over the place's, and none over the id", () => {
  const env = {
    SERVICE_TAG_TEAM: "env",
    SERVICE_TAG_STAGE: "env",
    "SERVICE_TAG_HOST.NAME": "env",
    "SERVICE_TAG_INSTANCE.ID": "env",
    SERVICE_TAG_EMPTY: "",
    SERVICE_TAG_: "no name",
  };
  assert.deepEqual(
    instanceTags({ ...place, env, tags: { team: "given", "instance.id": "given" } }),
    {
      "instance.id": "0123456789ab",
      "host.name": "env",
      "process.pid": "42",
      team: "given",
      stage: "env",
    },
  );
});

Deno.test("an instance never has more tags than an upload may carry", () => {
  const env = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`SERVICE_TAG_T${i}`, "x"]));
  const tags = instanceTags({ ...place, env, tags: { given: "kept" } });
  assert.equal(Object.keys(tags).length, 64);
  assert.equal(tags["instance.id"], place.id);
  assert.equal(tags.given, "kept");
});

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
    assert.equal(containerId(cgroup, mountinfo), ID);
  });
}

Deno.test("neither a layer nor a sandbox nor a plain session is a container", () => {
  const mounts = `1 2 0:1 / / rw - overlay o lowerdir=/var/lib/docker/overlay2/${ID}/diff\n` +
    `1 2 0:1 /cri/sandboxes/${ID}/resolv.conf /etc/resolv.conf rw - a b\n`;
  assert.equal(containerId("0::/user.slice/session-1.scope\n", mounts), undefined);
  assert.equal(containerId(`0::/x/${ID}ff\n`, ""), undefined);
});
