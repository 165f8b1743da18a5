/** A control plane on a broker and store of its own, asked over HTTP as anybody would. */
import { join } from "node:path";
import { afterEach } from "vitest";
import { openTrawl, type Trawl } from "../../src/compose.ts";
import { composeApi } from "../../src/compose-api.ts";
import { composeRetention } from "../../src/compose-retention.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { Retention } from "../../src/retain/retention.ts";
import { newFolder } from "../e2e/folder.ts";

export type Heard = { status: number; headers: Headers; json: Record<string, never> & { [key: string]: unknown } };

export type Api = {
  url: string;
  trawl: Trawl;
  retention: Retention;
  /** JSON unless `body` is text or a stream. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Heard>;
  stop(): Promise<void>;
  /** What it has logged, at the `logLevel` of the settings. */
  logged: readonly string[];
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Closed before what was there already. */
export function closeLater(close: () => Promise<void>): void {
  closing.push(close);
}

/** Ends with the test. */
export async function startApi(settings: Record<string, unknown> = {}): Promise<Api> {
  const folder = newFolder();
  const places = { broker: `sqlite:${join(folder, "broker.db")}`, store: `sqlite:${join(folder, "store.db")}` };
  const values = { ...places, bodies: `file:${join(folder, "bodies")}`, apiPort: 0, logLevel: "silent", ...settings };
  const config = resolveConfig([{ from: "test", values }]);
  const logged: string[] = [];
  const trawl = await openTrawl(config, (line) => void logged.push(line));
  closing.push(() => trawl.close());
  const retention = composeRetention(config, trawl); // runs where a test starts it
  const server = await composeApi(config, trawl, retention);
  const { url } = await server.start();
  closing.push(() => server.stop());
  return { url, trawl, retention, ask: (...words) => ask(url, ...words), stop: () => server.stop(), logged };
}

async function ask(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Heard> {
  const isRaw = typeof body === "string" || body instanceof ReadableStream;
  const answer = await fetch(base + path, {
    method,
    headers: { ...(body === undefined || isRaw ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    ...(body instanceof ReadableStream ? { duplex: "half" } : {}),
  });
  const text = await answer.text();
  const isJson = /[/+]json\b/.test(answer.headers.get("content-type") ?? "");
  return { status: answer.status, headers: answer.headers, json: isJson ? JSON.parse(text) : { text } };
}
