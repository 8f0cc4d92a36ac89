/** The list of routes, in the order of the API's document. */

import type { Route } from "../http/route.ts";
import { adminRoutes } from "./admin.ts";
import { contextAlias, findings, guideAlias, signalContext } from "./context.ts";
import { health } from "./health.ts";
import { ingest, ingestInto } from "./ingest.ts";
import { instances } from "./instances.ts";
import { metrics } from "./metrics.ts";
import { type OpenApi, openapiOf, openapiRoute } from "./openapi.ts";
import { signals } from "./signals.ts";
import { windows } from "./windows.ts";

/** All routes of the hosted API. */
export const routes: readonly Route[] = [
  health,
  openapiRoute(() => openapi),
  instances,
  signals,
  windows,
  signalContext,
  contextAlias,
  guideAlias,
  findings,
  ingest,
  ingestInto,
  metrics,
  ...adminRoutes,
];

/** The document of all routes. */
export const openapi: OpenApi = openapiOf(routes);
