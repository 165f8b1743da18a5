/** The noisy neighbour: 99 sites are crawled without and with one more site that answers slowly. */
import { formatSpread, group } from "../harness/report.mjs";
import { listContestants } from "./contestants.mjs";
import { runCrawl } from "./run.mjs";
import { resize } from "./workloads.mjs";

const WORKLOAD = { sites: 99, pages: 41, kind: "mixed", rate: "unlimited" };
/** A page of 17 KB takes one second. */
const SLOW = { bytesPerS: 17_000 };

export function neighbourGroup({ before }) {
  const contestants = Object.fromEntries(
    Object.entries(listContestants(before)).filter(
      ([, { isTrawl, services }]) => isTrawl && !services.includes("postgres"),
    ),
  );
  return {
    title: "noisy neighbour: 99 sites, without and with one slow site",
    contestants,
    columns: [
      { heading: "pages/s alone", read: ({ figures }) => formatSpread(figures.alonePerS, group) },
      { heading: "with the slow site", read: ({ figures }) => formatSpread(figures.togetherPerS, group) },
      { heading: "ratio", read: ({ figures }) => formatSpread(figures.ratio, (value) => value.toFixed(2)) },
    ],
    async run(name, session) {
      const workload = resize(WORKLOAD, session.options.pages);
      const origin = await session.openOrigin({ ...workload, slow: SLOW });
      const { services, signal } = session;
      const options = { ...session.options, packets: false };
      const shared = { contestant: contestants[name], workload, origin, services, options, signal };
      const alone = await runCrawl(shared);
      const urls = [origin.slowUrl, ...origin.urls];
      const together = await runCrawl({ ...shared, urls, ignoredSite: origin.slowAddress });
      const problems = [...alone.problems, ...together.problems];
      if (problems.length > 0) return { problem: problems.join("; "), notes: [] };
      const [alonePerS, togetherPerS] = [alone.pagesPerS, together.pagesPerS];
      return { figures: { alonePerS, togetherPerS, ratio: togetherPerS / alonePerS }, notes: [] };
    },
  };
}
