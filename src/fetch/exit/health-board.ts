/**
 * The health of all exits, shared by the fleet: one shared value in the broker per site, and one for the exits
 * themselves (ALL_SITES).
 *
 * The exit client calls it for every request. It answers from memory: the first request to a site reads the shared
 * value, and every `flushMs` the results since then are added to the values in the broker, with one read and one write
 * per site. A write fails if another process was faster, and is then repeated with the new value. If the process
 * crashes, the results of the last `flushMs` are lost.
 */
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { afterResult, type ExitResult, type Health, mergedHealth, NO_HEALTH } from "./health.ts";
import { ALL_SITES, addSites, decodeHealth, encodeHealth, healthKey, type SiteHealth } from "./health-codec.ts";

type Deps = { values: Pick<Frontier, "findValue" | "keepValue">; clock: Clock; log: Log };

export type HealthBoardOptions = {
  flushMs: number;
  /** Sites in memory. The oldest ones are forgotten; the broker keeps them. */
  maxSites: number;
  /** Sites that are written in one flush. The others wait for the next one. */
  flushSites: number;
};

export type HealthBoard = {
  /** Loads the health at a site. Undefined if it is in memory. Never rejects. */
  load(site: string): Promise<void> | undefined;
  healthAt(site: string, exitId: string): Health;
  record(site: string, exitId: string, result: ExitResult): void;
  /** Writes all results. Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

/** How long the health at a site is kept after the last request to it. */
const KEPT_MS = 7 * 24 * 3_600_000;
const MAX_WRITES = 5;

/** `view`: what is known, including own results. `change`: the own results that are not in the broker yet. */
type Entry = { view: SiteHealth; change: SiteHealth; loading: Promise<void> | undefined };

export function createHealthBoard({ values, clock, log }: Deps, options: HealthBoardOptions): HealthBoard {
  const entries = new Map<string, Entry>();
  const dirty = new Set<string>();
  const stopping = new AbortController();
  let timer: Promise<void> | undefined;
  let flushing: Promise<void> = Promise.resolve();

  function entryOf(site: string): Entry {
    const known = entries.get(site);
    if (known !== undefined) return known;
    if (entries.size >= options.maxSites) forgetOldest();
    const entry: Entry = { view: new Map(), change: new Map(), loading: undefined };
    entries.set(site, entry);
    entry.loading = read(site).then(
      ({ health }) => adopt(entry, health),
      (cause: unknown) => failed(site, cause),
    );
    return entry;
  }

  function forgetOldest(): void {
    const oldest = [...entries.keys()].find((site) => site !== ALL_SITES && !dirty.has(site));
    if (oldest !== undefined) entries.delete(oldest);
  }

  async function read(site: string): Promise<{ health: SiteHealth; version: number }> {
    const found = await values.findValue(healthKey(site));
    return { health: found === undefined ? new Map() : decodeHealth(found.value), version: found?.version ?? 0 };
  }

  /** The own results that are not written yet are added to what the broker knows. */
  function adopt(entry: Entry, shared: SiteHealth): void {
    entry.view = merged(shared, entry.change);
    entry.loading = undefined;
  }

  function failed(site: string, cause: unknown): void {
    const entry = entries.get(site);
    if (entry !== undefined) entry.loading = undefined;
    log.warn("exits.health_failed", { site, cause });
  }

  function schedule(): void {
    timer ??= clock.sleep(options.flushMs, stopping.signal).then(async () => {
      timer = undefined;
      if (stopping.signal.aborted) return;
      await flush(options.flushSites);
      if (dirty.size > 0) schedule();
    });
  }

  function flush(maxSites: number): Promise<void> {
    flushing = flushing.then(() => writeDirty(maxSites));
    return flushing;
  }

  async function writeDirty(maxSites: number): Promise<void> {
    const sites = [...dirty].slice(0, maxSites);
    for (const site of sites) {
      dirty.delete(site);
      await write(site).catch((cause: unknown) => {
        dirty.add(site); // the results are kept for the next flush
        failed(site, cause);
      });
    }
    const named = sites.filter((site) => site !== ALL_SITES);
    if (named.length > 0) await addSites(values, named).catch((cause: unknown) => failed(ALL_SITES, cause));
  }

  async function write(site: string): Promise<void> {
    const entry = entries.get(site);
    if (entry === undefined) return;
    for (let writes = 0; writes < MAX_WRITES; writes++) {
      const { health, version } = await read(site);
      const written = entry.change;
      const next = merged(health, written);
      entry.change = new Map();
      const isKept = await values
        .keepValue(healthKey(site), encodeHealth(next), { version, ttlMs: KEPT_MS })
        .catch((cause: unknown) => {
          entry.change = merged(written, entry.change);
          throw cause;
        });
      if (isKept !== undefined) return adopt(entry, next);
      entry.change = merged(written, entry.change);
    }
    dirty.add(site); // other processes were always faster
  }

  return {
    load: (site) => entryOf(site).loading,
    healthAt: (site, exitId) => entryOf(site).view.get(exitId) ?? NO_HEALTH,
    record(site, exitId, result) {
      const entry = entryOf(site);
      const now = clock.now();
      const view = afterResult(entry.view.get(exitId) ?? NO_HEALTH, result, now);
      entry.view.set(exitId, view);
      const counted = afterResult(entry.change.get(exitId) ?? NO_HEALTH, result, now);
      // The counts are those of this process; whether the exit is ejected follows from all results.
      const { streak, ejections, ejectedUntil, because, changedAt } = view;
      entry.change.set(exitId, { ...counted, streak, ejections, ejectedUntil, because, changedAt });
      dirty.add(site);
      schedule();
    },
    flush: () => flush(Number.POSITIVE_INFINITY),
    async close() {
      stopping.abort();
      await timer;
      await flush(Number.POSITIVE_INFINITY);
    },
  };
}

function merged(shared: SiteHealth, change: SiteHealth): SiteHealth {
  const all = new Map(shared);
  for (const [exitId, own] of change) all.set(exitId, mergedHealth(shared.get(exitId) ?? NO_HEALTH, own));
  return all;
}
