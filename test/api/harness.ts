/** A server with its own broker and store, called over HTTP. */
import { join } from "node:path";
import { afterEach } from "vitest";
import { composeApi } from "../../src/compose/api.ts";
import { type App, openApp } from "../../src/compose/app.ts";
import { composeRetention } from "../../src/compose/retention.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { Retention } from "../../src/retain/retention.ts";
import { newFolder } from "../e2e/folder.ts";

export type Answer = { status: number; headers: Headers; json: Record<string, never> & { [key: string]: unknown } };

export type Api = {
  url: string;
  trawl: App;
  retention: Retention;
  /** Sends `body` as JSON, unless it is text or a stream. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  stop(): Promise<void>;
  /** Log lines of at least the `logLevel` in the settings. */
  logged: readonly string[];
};

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Calls `close` after the test. The last registered function is called first. */
export function closeLater(close: () => Promise<void>): void {
  closing.push(close);
}

/** Starts a server that is stopped after the test. */
export async function startApi(settings: Record<string, unknown> = {}): Promise<Api> {
  const folder = newFolder();
  const places = { broker: `sqlite:${join(folder, "broker.db")}`, store: `sqlite:${join(folder, "store.db")}` };
  const values = { ...places, bodies: `file:${join(folder, "bodies")}`, apiPort: 0, logLevel: "silent", ...settings };
  const config = resolveConfig([{ from: "test", values }]);
  const logged: string[] = [];
  const trawl = await openApp(config, (line) => void logged.push(line));
  closing.push(() => trawl.close());
  const retention = composeRetention(config, trawl); // runs only if a test starts it
  const server = await composeApi(config, trawl, retention);
  const { url } = await server.start();
  closing.push(() => server.stop());
  return { url, trawl, retention, request: (...args) => request(url, ...args), stop: () => server.stop(), logged };
}

async function request(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
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
