import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAccessLog } from "./access-log.ts";

const SERVE = fileURLToPath(new URL("./serve.mjs", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "trawl-serve-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function serve(...flags: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [SERVE, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const exit = once(child, "exit");
  child.kill(signal);
  return exit;
}

describe("serve.mjs", () => {
  it("serves the site and ends with 0 on SIGTERM", async () => {
    const { child, url } = await serve("--pages", "3");

    expect(await fetch(`${url}/page/2`).then((reply) => reply.text())).toContain("<h1>Page 2</h1>");
    expect((await fetch(`${url}/page/3`)).status).toBe(404);
    expect(await end(child, "SIGTERM")).toEqual([0, null]);
  });

  it("logs every request even if it is killed, and continues in the same file", async () => {
    const log = join(folder, "access.jsonl");
    for (const path of ["/", "/page/1", "/nope"]) {
      const { child, url } = await serve("--log", log);
      await fetch(url + path).then((reply) => reply.text());
      // The end of a request is logged just after its last byte is sent, and before the next request is handled.
      await fetch(`${url}/page/5`).then((reply) => reply.text());
      await end(child, "SIGKILL");
    }

    const arrivals = readAccessLog(log);
    expect(arrivals.map(({ path }) => path)).toEqual(["/", "/page/5", "/page/1", "/page/5", "/nope", "/page/5"]);
    expect(arrivals.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(arrivals.filter(({ path }) => path !== "/page/5").map(({ status }) => status)).toEqual([200, 200, 404]);
    expect(arrivals[0]?.endedAt).toBeGreaterThan(arrivals[0]?.arrivedAt ?? Number.POSITIVE_INFINITY);
  });

  it("refuses a flag that is not a number", async () => {
    const child = spawn(process.execPath, [SERVE, "--pages", "many"], { stdio: ["ignore", "ignore", "pipe"] });
    const output: string[] = [];
    child.stderr.on("data", (chunk) => output.push(String(chunk)));
    const [code] = await once(child, "close");

    expect(code).not.toBe(0);
    expect(output.join("")).toContain('--pages takes a whole number, not "many"');
  });
});
