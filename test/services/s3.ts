/**
 * A real S3 server for tests that checks every signature: OpenStack Swift, on loopback, with a folder and ports of its
 * own. It ends, and its folder goes, with the process that started it, however that ends. Start one for a file of tests
 * and give every test its own prefix.
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
  /** A request signed with the right keys, past everything that is tested; the path begins with the bucket. */
  fetch(method: string, path: string, body?: string | Uint8Array): Promise<Response>;
  /** Ends it and removes its folder. Stopping twice is harmless. */
  stop(): Promise<void>;
};

const SCRIPT = fileURLToPath(new URL("./swift/serve.py", import.meta.url));
const REGION = "eu-test-1";
const BUCKET = "trawl-tests";
const KEYS = { accessKey: "trawl:tester", secretKey: "a-secret/of+tests" };

/** Why no such server can be started here; undefined if one can. */
export function findS3Obstacle(): string | undefined {
  return findSwift() === undefined
    ? "OpenStack Swift is not fetched, or there is no /usr/bin/python3; npm test fetches it where it can"
    : undefined;
}

/** Resolves when it serves and has a bucket. */
export async function startS3(): Promise<S3Server> {
  const found = findSwift();
  if (found === undefined) throw new Error(findS3Obstacle());
  const folder = mkdtempSync(join(tmpdir(), "trawl-s3-"));
  const words = [...found.words, SCRIPT, folder, KEYS.accessKey, KEYS.secretKey, REGION];
  const env = { ...process.env, ...found.env };
  const server = spawn(found.command, words, { env, stdio: ["pipe", "pipe", "pipe"], detached: true });
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
  const made = await send("PUT", BUCKET);
  if (!made.ok) throw new Error(`no bucket: ${made.status} ${await made.text()}`);
  return {
    ...{ endpoint, region: REGION, bucket: BUCKET, ...KEYS, folder, fetch: send },
    pid: server.pid ?? 0,
    async stop() {
      await end(server);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It says on which port it serves; what it says if it does not is on its stderr. */
async function portOf(server: ChildProcess): Promise<number> {
  const complaints: string[] = [];
  server.stderr?.on("data", (text: Buffer) => complaints.push(text.toString()));
  const lines = createInterface(server.stdout as NodeJS.ReadableStream);
  const [line] = await Promise.race([once(lines, "line"), once(server, "exit")]);
  lines.close();
  if (typeof line === "string") return (JSON.parse(line) as { port: number }).port;
  throw new Error(`Swift did not start: ${complaints.join("").slice(-2_000)}`);
}

/** It runs on as long as this process, and is no reason for it to stay. */
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
