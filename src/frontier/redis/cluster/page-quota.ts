/**
 * Enforces `limits.pages` over several shards. No shard knows how many pages the others admit. So a shard admits only
 * as many pages as it was given. It gets pages from the job's owner shard, just before URLs are sent to it. Callers:
 * enqueue and settle. Each script is atomic. A crash between two scripts loses reserved pages, so a job may end below
 * its limit, but never above it. If two processes submit the same URL at once, a shard gets more pages than it needs,
 * and keeps them.
 */
import type { NewTask } from "../../../domain/task.ts";
import { encodeFingerprint } from "../codec/codec.ts";
import type { Shard, Shards } from "./shards.ts";

export type PageQuota = {
  /** Gives a shard the pages that it needs to admit these tasks, or as many as are left. */
  provide(shard: Shard, jobId: string, tasks: readonly NewTask[]): Promise<void>;
};

/** Max jobs cached as having no limit. With several shards a job cannot get a limit later, see change-job.lua. */
const MAX_CACHED = 10_000;

export function createPageQuota(shards: Shards): PageQuota {
  // A single shard counts all pages itself.
  if (shards.all.length === 1) return { provide: async () => {} };
  const unlimited = new Set<string>();

  async function allot(shard: Shard, jobId: string, given: number, more: number): Promise<void> {
    for (let known = given; ; ) {
      const { reply, isRepeat } = await shard.tryRun("allot-pages", jobId, known, more);
      const found = Number(reply[1]);
      // The first attempt of a repeated call may have given the pages. Losing pages is better than exceeding the limit.
      if (found === known || isRepeat) return;
      known = found;
    }
  }

  return {
    async provide(shard, jobId, tasks) {
      if (tasks.length === 0 || unlimited.has(jobId)) return;
      const pages = tasks.filter(({ redirects }) => redirects === undefined || redirects === 0);
      const fingerprints = pages.map(({ url }) => encodeFingerprint(url));
      const [, needed, given] = await shard.run("count-new-pages", jobId, ...fingerprints);
      if (Number(needed) < 0) {
        if (unlimited.size >= MAX_CACHED) unlimited.clear();
        unlimited.add(jobId);
      }
      if (Number(needed) <= 0) return;
      const [, taken] = await shards.ownerOf(jobId).runOnce("reserve-pages", jobId, Number(needed));
      if (Number(taken) > 0) await allot(shard, jobId, Number(given), Number(taken));
    },
  };
}
