/**
 * Keeps `limits.pages` over several shards: none sees what the others admit, so each admits only what it was allotted
 * from the job's home shard, just before URLs are sent to it. Who calls: enqueue and settle. Each step is atomic; a
 * crash between two of them loses pages that were reserved, so a job may end short of its limit, never over it. What a
 * shard was allotted and did not need (two submitted the same URL at once) it keeps for its next ones.
 */
import type { NewTask } from "../../domain/task.ts";
import type { Shard, Shards } from "./shards.ts";
import { fingerprintWord } from "./words.ts";

export type PageQuota = {
  /** Allots what a shard needs to admit these, or what is left of it. */
  provide(shard: Shard, jobId: string, tasks: readonly NewTask[]): Promise<void>;
};

/** Jobs known to have no limit: over several shards none is ever given one, see control.lua. */
const REMEMBERED_MOST = 10_000;

export function createPageQuota(shards: Shards): PageQuota {
  // One shard counts for itself.
  if (shards.all.length === 1) return { provide: async () => {} };
  const unlimited = new Set<string>();

  async function allot(shard: Shard, jobId: string, had: number, more: number): Promise<void> {
    for (let known = had; ; ) {
      const { reply, again } = await shard.tryRun("allot", jobId, known, more);
      const found = Number(reply[1]);
      // Made again, it may have been done the first time: better short of the limit than over it.
      if (found === known || again) return;
      known = found;
    }
  }

  return {
    async provide(shard, jobId, tasks) {
      if (tasks.length === 0 || unlimited.has(jobId)) return;
      const pages = tasks.filter(({ redirects }) => redirects === undefined || redirects === 0);
      const [, needed, had] = await shard.run("count-new", jobId, ...pages.map(({ url }) => fingerprintWord(url)));
      if (Number(needed) < 0) {
        if (unlimited.size >= REMEMBERED_MOST) unlimited.clear();
        unlimited.add(jobId);
      }
      if (Number(needed) <= 0) return;
      const [, taken] = await shards.home(jobId).runOnce("reserve", jobId, Number(needed));
      if (Number(taken) > 0) await allot(shard, jobId, Number(had), Number(taken));
    },
  };
}
