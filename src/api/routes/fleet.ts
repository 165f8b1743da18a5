/**
 * What all jobs share: queues and workers. They show how much everybody has waiting and where, so all of it takes the scope
 * admin; a tenant sees its own share in its jobs.
 */
import { z } from "zod";
import type { AskedOrder } from "../../frontier/frontier.ts";
import { orderWorkers } from "../../frontier/order-workers.ts";
import type { ApiDeps } from "../api-deps.ts";
import { defineRoute, type Route } from "../route.ts";
import { orderSchemaOut, queueSchemaOut, queuesOut, workerOut, workerSchemaOut } from "../wire-fleet.ts";

const TAG = "Fleet";
const named = z.strictObject({ worker: z.string().min(1).max(500) });

export function fleetRoutes(deps: ApiDeps): Route[] {
  const { frontier } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/queues",
      scope: "admin",
      tag: TAG,
      summary: "What waits on each queue, and how many workers serve it",
      answers: { 200: { says: "By name.", json: z.strictObject({ queues: z.array(queueSchemaOut) }) } },
      async handle() {
        const [queues, workers] = await Promise.all([frontier.listQueues(), frontier.listWorkers()]);
        return { status: 200, body: { queues: queuesOut(queues, workers) } };
      },
    }),
    defineRoute({
      method: "GET",
      path: "/v1/workers",
      scope: "admin",
      tag: TAG,
      summary: "Who works on this broker, and how they are doing",
      answers: { 200: { says: "By name.", json: z.strictObject({ workers: z.array(workerSchemaOut) }) } },
      handle: async () => ({ status: 200, body: { workers: (await frontier.listWorkers()).map(workerOut) } }),
    }),
    orderRoute(deps, "drain", {
      summary: "Let a worker end what it has in hand, and then end itself",
      says: "By its name, or that of a supervisor: then all that it looks after drain, and it ends with them. Nobody takes their place, and nothing is lost. They hear of it within 5 seconds; `state` tells. The name is `host/pid`, or the whole of `worker`, its slashes as %2F.",
    }),
    orderRoute(deps, "recycle", {
      summary: "Let a fresh process take a worker's place, while it ends what it has in hand",
      says: "For workers that have a supervisor; 409, ORDER_REFUSED, for others. With the name of a supervisor: all that it looks after.",
    }),
  ];
}

function orderRoute({ frontier }: ApiDeps, order: AskedOrder, words: Pick<Route, "summary" | "says">): Route {
  return defineRoute({
    method: "POST",
    path: `/v1/workers/:worker/${order}`,
    scope: "admin",
    tag: TAG,
    ...words,
    params: named,
    answers: {
      202: {
        says: "Who was told.",
        json: z.strictObject({ order: orderSchemaOut, workers: z.array(z.string()) }),
      },
    },
    handle: async ({ params }) => ({ status: 202, body: await orderWorkers(frontier, params.worker, order) }),
  });
}
