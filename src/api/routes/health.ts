/** Liveness and readiness of the server. */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import type { ApiDeps } from "../api-deps.ts";
import { type ApiRoute, defineRoute } from "../route.ts";

const okSchema = z.strictObject({ status: z.literal("ok") });
const OK = { status: 200, body: { status: "ok" } };
const TIMEOUT_MS = 2_000;

export function healthRoutes({ frontier, store }: ApiDeps, isDraining: () => boolean): ApiRoute[] {
  const parts = { broker: () => frontier.findJob("-"), store: () => store.countRecords("-") };
  return [
    defineRoute({
      method: "GET",
      path: "/healthz",
      scope: "open",
      tag: "Health",
      summary: "Whether the process is alive",
      responses: { 200: { description: "The process is alive.", json: okSchema } },
      handle: async () => OK,
    }),
    defineRoute({
      method: "GET",
      path: "/readyz",
      scope: "open",
      tag: "Health",
      summary:
        "Whether the server is ready. It is not ready while it stops, or while the broker or the store is unreachable",
      responses: { 200: { description: "The server is ready.", json: okSchema } },
      async handle() {
        if (isDraining()) throw new TrawlError("STOPPING", { op: "api.ready", message: "the server is stopping" });
        for (const [part, query] of Object.entries(parts)) await checkReachable(part, query());
        return OK;
      },
    }),
  ];
}

async function checkReachable(part: string, query: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const timeout = new Error(`no response within ${TIMEOUT_MS} ms`);
    timer = setTimeout(reject, TIMEOUT_MS, timeout);
  });
  try {
    await Promise.race([query, late]);
  } catch (cause) {
    const code = part === "broker" ? "BROKER_UNREACHABLE" : "STORE_UNREACHABLE";
    throw new TrawlError(code, { op: "api.ready", message: `the ${part} is unreachable`, cause });
  } finally {
    clearTimeout(timer);
  }
}
