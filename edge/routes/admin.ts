/** What `deno task admin` does, over HTTP: for who has the operator's token. */

import { decode, type Shape, ShapeError } from "@service/core";
import { refuse } from "@service/core/problem";
import type { Hono } from "hono";
import {
  listOfKeys,
  listOfProjects,
  madeKey,
  moveBody,
  newKeyBody,
  newProjectBody,
  quotasBody,
  rotationBody,
} from "./admin_shapes.ts";
import { readBody } from "../http/body.ts";
import { durationNs } from "../tenancy/duration.ts";
import { answer, type Env, type RequestContext, type Service, sized } from "../http/respond.ts";
import { isSecret } from "../tenancy/keys.ts";
import { moveProject } from "../move/move.ts";
import {
  createKey,
  createProject,
  listKeys,
  listProjects,
  revokeKey,
  rotateKey,
  setQuotas,
} from "../tenancy/projects.ts";

const MAX_BODY_BYTES = 65_536;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Adds the routes; without the token, `/metrics` is not found and the others are refused. */
export function addAdminRoutes(app: Hono<Env>, service: Service, admin_token: string): void {
  const { databases, keys, metrics, now_ns } = service;
  const { control } = databases;

  app.get("/metrics", async (c, next) => {
    if (!isOperator(c, admin_token)) return await next();
    const text = metrics.text(await databases.waitingWrites());
    return sized(c, text, "text/plain; version=0.0.4; charset=utf-8");
  });

  const route = (work: (c: RequestContext) => Promise<unknown>) => async (c: RequestContext) => {
    if (!isOperator(c, admin_token)) {
      throw refuse(401, "Cannot tell who asks: Authorization must be Bearer and the admin token");
    }
    try {
      return answer(c, await work(c));
    } catch (error) {
      if (error instanceof RangeError) throw refuse(400, error.message);
      throw error;
    } finally {
      keys.forget();
    }
  };
  const path = "/api/v1/admin";
  const param = (c: RequestContext, name: string) => c.req.param(name) ?? "";

  app.get(
    `${path}/projects`,
    route(async () => {
      const projects = await listProjects(databases, now_ns());
      return listOfProjects.check({ projects: projects.map(plainCounts) });
    }),
  );
  app.post(
    `${path}/projects`,
    route(async (c) => {
      const body = await read(c, newProjectBody);
      return { created: await createProject(databases, { ...body, now_ns: now_ns() }) };
    }),
  );
  app.patch(
    `${path}/projects/:name`,
    route(async (c) => {
      const quotas = await read(c, quotasBody);
      await found(setQuotas(control, param(c, "name"), quotas));
      return { changed: true };
    }),
  );
  app.post(
    `${path}/projects/:name/move`,
    route(async (c) => {
      const { to } = await read(c, moveBody);
      await found(moveProject(databases, { project: param(c, "name"), to }));
      return { moved: true };
    }),
  );

  app.get(`${path}/keys`, route(async () => listOfKeys.check({ keys: await listKeys(control) })));
  app.post(
    `${path}/keys`,
    route(async (c) => {
      const { project, name = "default", scopes, expires_in } = await read(c, newKeyBody);
      const now = now_ns();
      const expires_ns = expires_in === undefined ? null : now + durationNs(expires_in);
      await createProject(databases, { name: project, now_ns: now });
      const key = await createKey(control, { project, name, scopes, expires_ns, now_ns: now });
      return madeKey.check({ key });
    }),
  );
  app.post(
    `${path}/keys/:prefix/rotate`,
    route(async (c) => {
      const { overlap } = await read(c, rotationBody);
      const options = { overlap_ns: durationNs(overlap), now_ns: now_ns() };
      const key = await rotateKey(control, { prefix: param(c, "prefix"), ...options });
      if (key === null) throw noKey();
      return madeKey.check({ key });
    }),
  );
  app.delete(
    `${path}/keys/:prefix`,
    route(async (c) => {
      if (!await revokeKey(control, param(c, "prefix"), now_ns())) throw noKey();
      return { revoked: true };
    }),
  );
}

function isOperator(c: RequestContext, admin_token: string): boolean {
  return isSecret(c.req.header("authorization") ?? "", `Bearer ${admin_token}`);
}

async function read<T>(c: RequestContext, shape: Shape<T>): Promise<T> {
  const body = await readBody(c.req.raw, MAX_BODY_BYTES);
  try {
    return shape.check(decode(utf8.decode(body)));
  } catch (error) {
    const [parameter, message] = error instanceof ShapeError && error.path
      ? [error.path, error.fault]
      : ["body", (error as Error).message];
    throw refuse(400, `Cannot read the body: ${parameter} ${message}`, [{ parameter, message }]);
  }
}

/** What is done to a project, which may not be there. */
async function found(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof RangeError) || !error.message.startsWith("Cannot find")) throw error;
    throw refuse(404, error.message, [{ parameter: "name", message: "is not known" }]);
  }
}

function noKey() {
  const message = "is that of no valid key";
  return refuse(404, `Cannot find the key: prefix ${message}`, [{ parameter: "prefix", message }]);
}

/** Counts as numbers: only nanoseconds need more digits. */
function plainCounts(project: object): object {
  return Object.fromEntries(
    Object.entries(project).map(([name, value]) => [
      name,
      typeof value === "bigint" && !name.endsWith("_ns") ? Number(value) : value,
    ]),
  );
}
