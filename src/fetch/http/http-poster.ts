/** Posts over HTTP, through the same gate and at the same rates as page requests. */
import type { Clock } from "../../runtime/clock.ts";
import type { ExitClient } from "../exit/exit-client.ts";
import type { Poster } from "../poster.ts";
import { retryAfterMs } from "./retry-after.ts";

/** The response body is not read. */
const BODY_BYTES = 0;

export function createHttpPoster({ client, clock }: { client: Pick<ExitClient, "send">; clock: Clock }): Poster {
  return {
    async post({ timeoutMs, body, ...request }) {
      const limits = { totalMs: timeoutMs, idleMs: timeoutMs, bodyBytes: BODY_BYTES };
      const answer = await client.send({
        ...request,
        method: "POST",
        body,
        // A webhook endpoint belongs to the user, and is often on a private network.
        exits: "none",
        limits,
        overflow: "cut",
        ignoresBody: true,
      });
      if (answer.kind !== "answer") return answer;
      const waitMs = retryAfterMs(answer.headers["retry-after"], clock.now());
      return { kind: "answered", status: answer.status, ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }) };
    },
  };
}
