/** Whether the server is there, and whether it can do its work. */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import type { ApiDeps } from "../api-deps.ts";
import { defineRoute, type Route } from "../route.ts";

const okSchema = z.strictObject({ status: z.literal("ok") });
const OK = { status: 200, body: { status: "ok" } };
/** Whoever asks wants to know now. */
const PATIENCE_MS = 2_000;

export function healthRoutes({ frontier, store }: ApiDeps, isDraining: () => boolean): Route[] {
  const parts = { broker: () => frontier.findJob("-"), store: () => store.countRecords("-") };
  return [
    defineRoute({
      method: "GET",
      path: "/healthz",
      scope: "open",
      tag: "Health",
      summary: "Whether the process is alive",
      answers: { 200: { says: "It is.", json: okSchema } },
      handle: async () => OK,
    }),
    defineRoute({
      method: "GET",
      path: "/readyz",
      scope: "open",
      tag: "Health",
      summary: "Whether it takes requests: not while it stops, nor while broker or store are away",
      answers: { 200: { says: "It does.", json: okSchema } },
      async handle() {
        if (isDraining()) throw new TrawlError("STOPPING", { op: "api.ready", message: "the server is stopping" });
        for (const [part, ask] of Object.entries(parts)) await answers(part, ask());
        return OK;
      },
    }),
  ];
}

async function answers(part: string, asking: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const silent = new Error(`it did not answer within ${PATIENCE_MS} ms`);
    timer = setTimeout(reject, PATIENCE_MS, silent);
  });
  try {
    await Promise.race([asking, late]);
  } catch (cause) {
    const code = part === "broker" ? "BROKER_UNREACHABLE" : "STORE_UNREACHABLE";
    throw new TrawlError(code, { op: "api.ready", message: `the ${part} is away`, cause });
  } finally {
    clearTimeout(timer);
  }
}
