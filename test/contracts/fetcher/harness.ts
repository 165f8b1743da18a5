/** A server and a fetcher for the tests of the fetcher contract. */
import { afterEach } from "vitest";
import type { Allowance, Fetcher, FetchLimits, FetchOutcome, FetchRequest } from "../../../src/fetch/fetcher.ts";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import { type MisbehavingServer, startMisbehavingServer } from "./misbehaving-server.ts";

/** Creates the fetcher under test, which may connect to 127.0.0.1. */
export type OpenFetcher = (deps: { allowance: Allowance; clock: Clock }) => Fetcher;

export const LIMITS: FetchLimits = { bodyBytes: 1_000_000, totalMs: 30_000, idleMs: 30_000 };

/** Lets every request leave at once. */
export const UNPACED: Allowance = { turn: () => undefined, trySend: () => true, unsent: () => {} };

export type Harness = {
  server: MisbehavingServer;
  fetcher: Fetcher;
  /** The sites of the calls of `Allowance`, by method. */
  calls: { turn: string[]; trySend: string[]; unsent: string[] };
  get(path: string, more?: Partial<FetchRequest>): Promise<FetchOutcome>;
};

export type HarnessOptions = { clock?: Clock; allowance?: Partial<Allowance> };

/** Opens harnesses that are closed after each test. */
export function useHarness(open: OpenFetcher): (options?: HarnessOptions) => Promise<Harness> {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  return async ({ clock = systemClock(), allowance: paced = {} } = {}) => {
    const server = await startMisbehavingServer();
    const calls: Harness["calls"] = { turn: [], trySend: [], unsent: [] };
    const chosen = { ...UNPACED, ...paced };
    const allowance: Allowance = {
      turn(site, signal) {
        calls.turn.push(site);
        return chosen.turn(site, signal);
      },
      trySend(site) {
        calls.trySend.push(site);
        return chosen.trySend(site);
      },
      unsent(site) {
        calls.unsent.push(site);
        chosen.unsent(site);
      },
    };
    const fetcher = open({ allowance, clock });
    closers.push(server.close, fetcher.close);
    const get: Harness["get"] = (path, more = {}) =>
      fetcher.fetch({ ...requestFor(`${server.origin}${path}`), ...more });
    return { server, fetcher, calls, get };
  };
}

export function requestFor(url: string): FetchRequest {
  return {
    url,
    site: new URL(url).host,
    limits: LIMITS,
    headers: {},
    signal: new AbortController().signal,
  };
}

/** Resolves when the `n`-th connection of the server is closed, in any way. */
export function connectionClosed({ connections }: MisbehavingServer, n = 1): Promise<void> {
  const socket = connections[n - 1];
  if (socket === undefined) throw new Error(`there is no connection ${n}`);
  return new Promise((resolve) => (socket.destroyed ? resolve() : socket.on("close", () => resolve())));
}

/** Returns the text of a page. Throws an error that contains the outcome if it is not a page. */
export function pageText(outcome: FetchOutcome): string {
  if (outcome.kind !== "page") throw new Error(`not a page: ${JSON.stringify(outcome)}`);
  return outcome.body.toString("latin1");
}
