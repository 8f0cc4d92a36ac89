/** Fake package registry on loopback: accepts uploads of `deno publish`, and serves them as JSR does. */

import { createHash } from "node:crypto";
import { command } from "../command.ts";

/** A running registry. */
export interface Registry extends AsyncDisposable {
  /** Value of `JSR_URL` for its clients. */
  readonly url: string;
  /** Requested paths, in order. */
  readonly asked: string[];
}

const VERSION = /^\/api\/scopes\/([^/]+)\/packages\/([^/]+)\/versions\/([^/]+)$/;
const META = /^\/(@[^/]+\/[^/]+)\/meta\.json$/;
const VERSION_META = /^\/(@[^/]+\/[^/]+\/[^/]+)_meta\.json$/;

/** Starts an empty registry that stores its packages in `directory`. */
export function startRegistry(directory: string): Registry {
  const asked: string[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      asked.push(pathname);
      try {
        return await answer(request, { pathname, directory });
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        return Response.json({ code: "packageVersionNotFound", message: "none" }, { status: 404 });
      }
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

interface Asked {
  pathname: string;
  directory: string;
}

async function answer(request: Request, { pathname, directory }: Asked): Promise<Response> {
  const [, scope, name, version] = VERSION.exec(pathname) ?? [];
  if (scope) {
    const folder = `${directory}/@${scope}/${name}/${version}`;
    if (request.method === "POST") await receive(request, folder);
    else await Deno.stat(folder);
  }
  if (pathname.startsWith("/api/")) return Response.json({ id: pathname, status: "success" });
  const [, described] = META.exec(pathname) ?? [];
  if (described) {
    const versions = Array.from(Deno.readDirSync(`${directory}/${described}`), ({ name }) => name);
    return Response.json({
      latest: versions[0],
      versions: Object.fromEntries(versions.map((version) => [version, {}])),
    });
  }
  const [, listed] = VERSION_META.exec(pathname) ?? [];
  if (listed) return Response.json(await describe(`${directory}/${listed}`));
  return new Response(await Deno.readFile(directory + pathname), {
    headers: {
      "content-type": pathname.endsWith(".json") ? "application/json" : "text/typescript",
    },
  });
}

async function receive(request: Request, folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const tar = command(["tar", "-xz", "-C", folder], { stdin: "piped" }).spawn();
  await request.body!.pipeTo(tar.stdin);
  if (!(await tar.status).success) throw new Error("Cannot unpack what was published");
}

async function describe(folder: string) {
  const { exports } = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  const manifest: Record<string, { size: number; checksum: string }> = {};
  for await (const path of filesOf(folder)) {
    const bytes = await Deno.readFile(path);
    const checksum = `sha256-${createHash("sha256").update(bytes).digest("hex")}`;
    manifest[path.slice(folder.length)] = { size: bytes.length, checksum };
  }
  return { manifest, exports: typeof exports === "string" ? { ".": exports } : exports };
}

async function* filesOf(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesOf(`${folder}/${name}`);
    else yield `${folder}/${name}`;
  }
}
