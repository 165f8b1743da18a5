/** An HTTP proxy that breaks connections. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { closeLater } from "./harness.ts";

type Verdict = "cut" | "stopping" | undefined;

/**
 * `judge` decides for each request: forward it, cut the response in the middle, or answer 503 with the code STOPPING.
 */
export async function startBreakingProxy(
  to: string,
  judge: (path: string, pass: () => undefined) => Verdict,
): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const verdict = judge(String(incoming.url), () => undefined);
    if (verdict === "stopping") {
      outgoing.writeHead(503, { "content-type": "application/problem+json" });
      outgoing.end(JSON.stringify({ code: "STOPPING", detail: "the server is stopping; retry" }));
      return;
    }
    const forwarded = request(to + incoming.url, { method: incoming.method, headers: incoming.headers }, (answer) => {
      if (verdict === undefined) {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, { "content-type": answer.headers["content-type"] });
      answer.once("data", (chunk: Buffer) => outgoing.write(chunk.subarray(0, 10), () => outgoing.destroy()));
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closeLater(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
