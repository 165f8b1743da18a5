/** A proxy to a server that breaks connections. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { closeLater } from "./harness.ts";

type Verdict = "cut" | "stopping" | undefined;

/** `judge` decides for each request: pass it on, cut the answer in the middle, or answer that the server is stopping. */
export async function startLine(to: string, judge: (path: string, pass: () => undefined) => Verdict): Promise<string> {
  const line = createServer((asked, answering) => {
    const verdict = judge(String(asked.url), () => undefined);
    if (verdict === "stopping") {
      answering.writeHead(503, { "content-type": "application/problem+json" });
      answering.end(JSON.stringify({ code: "STOPPING", detail: "the server is stopping; ask again" }));
      return;
    }
    const passed = request(to + asked.url, { method: asked.method, headers: asked.headers }, (answer) => {
      if (verdict === undefined) {
        answering.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(answering);
        return;
      }
      answering.writeHead(answer.statusCode ?? 500, { "content-type": answer.headers["content-type"] });
      answer.once("data", (chunk: Buffer) => answering.write(chunk.subarray(0, 10), () => answering.destroy()));
    });
    passed.on("error", () => answering.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => line.listen(0, "127.0.0.1", resolve));
  closeLater(async () => {
    line.closeAllConnections();
    line.close();
  });
  return `http://127.0.0.1:${(line.address() as AddressInfo).port}`;
}
