/** The group `submit`: URLs submitted over HTTP, compared with a minimal server on Redis. */
import { describeTrawl } from "../crawl/contestants.mjs";
import { ROOT } from "../harness/folders.mjs";
import { formatSpread, group } from "../harness/report.mjs";
import { measureBare, measureTrawl } from "./measure.mjs";

const millis = (value) => value.toFixed(1);

export function submitGroup({ before }) {
  const trawl = (label, root) => ({ label, root, prepare: () => describeTrawl(root, ["redis"]) });
  const contestants = {
    trawl: trawl("Trawl", ROOT),
    ...(before === undefined ? {} : { before: trawl("before: Trawl", before) }),
    bare: { label: "bare handler", prepare: () => describeTrawl(ROOT, ["redis"]) },
  };
  return {
    title: "submit over HTTP",
    contestants,
    columns: [
      column("10,000 URLs of 50 hosts, p50 ms", "listMs", millis),
      column("of 1 host, p50 ms", "oneHostMs", millis),
      column("of 8,000 new hosts, p50 ms", "newHostsMs", millis),
      column("one URL, p99 ms", "idleMs", millis),
      column("during a crawl, p99 ms", "busyMs", millis),
      column("stream, URLs/s", "streamPerS", group),
      column("growth MB", "growthMb", group),
    ],
    async run(name, { options }) {
      const { root } = contestants[name];
      const figures = root === undefined ? await measureBare() : await measureTrawl({ root, scale: options.scale });
      return { figures, notes: [] };
    },
  };
}

function column(heading, figure, format) {
  return { heading, read: ({ figures }) => figures[figure] && formatSpread(figures[figure], format) };
}
