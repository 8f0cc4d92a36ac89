/** Sockets that listen on this machine, from the kernel's tables `/proc/net/tcp` and `tcp6`. */

import type { ProcFiles } from "../../base/proc_files.ts";

/** A listening socket. */
interface Socket {
  /** As in a URL, without brackets. */
  address: string;
  port: number;
  inode: string;
}

/** Addresses for all: a socket with one gets what no socket with an address of its own takes. */
const ANY = ["0.0.0.0", "::"];

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Inodes of the sockets that may take a connection to the host and the port of `url`. */
export function listening(files: ProcFiles, url: URL): string[] {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const sockets = [...table(files, "net/tcp"), ...table(files, "net/tcp6")]
    .filter((socket) => socket.port === port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const hosts = host === "localhost" ? ["127.0.0.1", "::1"] : [host];
  const inodes = hosts.flatMap((host) => {
    const addresses = [host, ...ANY.slice(host.includes(":") ? 1 : 0)];
    const address = addresses.find((address) =>
      sockets.some((socket) => socket.address === address)
    );
    return sockets.filter((socket) => socket.address === address).map(({ inode }) => inode);
  });
  return [...new Set(inodes)];
}

/** A row: number, local address, remote address, the state 0A, four columns, user, timeout, inode. */
const LISTENING = /^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A(?: +\S+){3} +\d+ +\d+ +(\d+) /gm;

function table(files: ProcFiles, path: string): Socket[] {
  return Array.from(
    (files.text(path) ?? "").matchAll(LISTENING),
    ([, address = "", port = "", inode = ""]) => ({
      address: addressOf(address),
      port: parseInt(port, 16),
      inode,
    }),
  );
}

/** An address from the table: words of four bytes, in the order of the machine. */
function addressOf(digits: string): string {
  const bytes = (digits.match(/.{8}/g) ?? []).flatMap((word) => {
    const swapped = new Uint8Array(4);
    new DataView(swapped.buffer).setUint32(0, parseInt(word, 16), LITTLE_ENDIAN);
    return [...swapped];
  });
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! << 8) | bytes[2 * i + 1]!);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return bytes.slice(12).join(".");
  }
  // URLs have one form for every address.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`)
    .hostname.slice(1, -1);
}
