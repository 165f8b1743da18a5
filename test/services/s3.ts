/**
 * Starts a real S3 server for tests, which checks every signature: OpenStack Swift, on loopback, with its own folder
 * and ports. When the process that started it ends, even after SIGKILL, the server ends too and its folder is removed.
 * Start one per test file and give every test its own prefix.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { AwsClient } from "aws4fetch";
import { findSwift } from "./debian-programs.mjs";

export type S3Server = {
  endpoint: string;
  region: string;
  bucket: string;
  accessKey: string;
  secretKey: string;
  readonly pid: number;
  folder: string;
  /** Sends a correctly signed request, without the code under test. The path begins with the bucket. */
  fetch(method: string, path: string, body?: string | Uint8Array): Promise<Response>;
  /** Ends the server and removes its folder. A second call does nothing. */
  stop(): Promise<void>;
};

const SCRIPT = fileURLToPath(new URL("./swift/serve.py", import.meta.url));
const REGION = "eu-test-1";
const BUCKET = "trawl-tests";
const KEYS = { accessKey: "trawl:tester", secretKey: "a-secret/of+tests" };

/** Why the server cannot be started here; undefined if it can. */
export function findS3Obstacle(): string | undefined {
  return findSwift() === undefined
    ? "OpenStack Swift is not fetched, or there is no /usr/bin/python3; npm test fetches it if it can"
    : undefined;
}

/** Resolves when the server answers and has a bucket. */
export async function startS3(): Promise<S3Server> {
  const found = findSwift();
  if (found === undefined) throw new Error(findS3Obstacle());
  const folder = mkdtempSync(join(tmpdir(), "trawl-s3-"));
  const args = [...found.args, SCRIPT, folder, KEYS.accessKey, KEYS.secretKey, REGION];
  const env = { ...process.env, ...found.env };
  const server = spawn(found.command, args, { env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  const endpoint = `http://127.0.0.1:${await portOf(server)}`;
  unref(server);
  const client = new AwsClient({
    accessKeyId: KEYS.accessKey,
    secretAccessKey: KEYS.secretKey,
    service: "s3",
    region: REGION,
    retries: 0,
  });
  const send: S3Server["fetch"] = (method, path, body) => {
    return client.fetch(`${endpoint}/${path}`, { method, body: (body ?? null) as RequestInit["body"] & {} });
  };
  const created = await send("PUT", BUCKET);
  if (!created.ok) throw new Error(`no bucket: ${created.status} ${await created.text()}`);
  return {
    ...{ endpoint, region: REGION, bucket: BUCKET, ...KEYS, folder, fetch: send },
    pid: server.pid ?? 0,
    async stop() {
      await end(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The server prints its port on stdout, and errors on stderr. */
async function portOf(server: ChildProcess): Promise<number> {
  const errors: string[] = [];
  server.stderr?.on("data", (text: Buffer) => errors.push(text.toString()));
  const lines = createInterface(server.stdout as NodeJS.ReadableStream);
  const [line] = await Promise.race([once(lines, "line"), once(server, "exit")]);
  lines.close();
  if (typeof line === "string") return (JSON.parse(line) as { port: number }).port;
  throw new Error(`Swift did not start: ${errors.join("").slice(-2_000)}`);
}

/** Lets this process end while the server runs. */
function unref(server: ChildProcess): void {
  server.unref();
  for (const stream of [server.stdin, server.stdout, server.stderr]) (stream as unknown as { unref(): void }).unref();
  server.stdout?.resume();
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.ref();
  const ended = once(server, "exit");
  server.kill("SIGKILL");
  await ended;
}
