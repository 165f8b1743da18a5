/**
 * Queues and workers. All tenants share them, so these routes require the scope admin. A tenant sees only the waiting
 * tasks of its own jobs, in the counts of each job.
 */
import { z } from "zod";
import { queuesOut } from "../../control/views/fleet.ts";
import type { OperatorCommand } from "../../frontier/frontier.ts";
import { sendWorkerCommand } from "../../frontier/worker-commands.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";
import { commandSchemaOut, queueSchemaOut, workerOut, workerSchemaOut } from "../wire/fleet.ts";

const TAG = "Fleet";
const named = z.strictObject({ worker: z.string().min(1).max(500) });

export function fleetRoutes(deps: ApiDeps): ApiRoute[] {
  const { frontier } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/queues",
      scope: "admin",
      tag: TAG,
      summary: "List queues, with waiting tasks and workers",
      responses: { 200: { description: "Sorted by name.", json: z.strictObject({ queues: z.array(queueSchemaOut) }) } },
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
      summary: "List workers",
      responses: {
        200: { description: "Sorted by name.", json: z.strictObject({ workers: z.array(workerSchemaOut) }) },
      },
      handle: async () => ({ status: 200, body: { workers: (await frontier.listWorkers()).map(workerOut) } }),
    }),
    commandRoute(deps, "drain", {
      summary: "Drain a worker: it completes its tasks and exits",
      description:
        "Takes the name of a worker or a supervisor. A supervisor drains all its workers and exits. Drained workers are not replaced. Tasks that take too long are returned to the queue, so no task is lost. A worker receives the command within 5 seconds; its `state` is then `draining`. A worker of a crawl refuses commands: 409 COMMAND_REFUSED. The name is `host/pid`, or the whole `worker` with slashes as %2F.",
    }),
    commandRoute(deps, "recycle", {
      summary: "Recycle a worker: a new process replaces it",
      description:
        "The old process completes its tasks first; tasks that take too long are returned to the queue. If the worker has no supervisor or belongs to a crawl, the response is 409 COMMAND_REFUSED. With the name of a supervisor, all its workers are recycled.",
    }),
  ];
}

function commandRoute(
  { frontier }: ApiDeps,
  command: OperatorCommand,
  texts: Pick<ApiRoute, "summary" | "description">,
): ApiRoute {
  return defineRoute({
    method: "POST",
    path: `/v1/workers/:worker/${command}`,
    scope: "admin",
    tag: TAG,
    ...texts,
    params: named,
    responses: {
      202: {
        description: "The workers that get the command.",
        json: z.strictObject({ command: commandSchemaOut, workers: z.array(z.string()) }),
      },
    },
    handle: async ({ params }) => ({ status: 202, body: await sendWorkerCommand(frontier, params.worker, command) }),
  });
}
