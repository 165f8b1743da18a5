/** Renders docs/benchmarks.md from the result of a run. Pure. */
import { tableOf } from "../harness/summary.mjs";

const PARTS = [
  {
    heading: "Crawls without a rate limit",
    isShown: ({ workload }) => workload !== undefined && workload.intervalMs === undefined,
    charts: ["bench-speed.svg"],
  },
  {
    heading: "Crawls with a rate limit per site",
    isShown: ({ workload }) => workload?.intervalMs !== undefined,
    charts: ["bench-polite.svg"],
  },
  { heading: "CPU and memory", isShown: () => false, charts: ["bench-cpu.svg", "bench-memory.svg"] },
  { heading: "Parts of Trawl", isShown: ({ workload }) => workload === undefined, charts: [] },
];

/** `result` is what `npm run bench` stores; `charts` are the pictures in docs/media. */
export function renderPage({ result, groups, summary, charts }) {
  const names = Object.keys(groups).filter((name) => summary.some(({ group }) => group === name));
  const parts = PARTS.flatMap(({ heading, isShown, charts: wanted }) => {
    const pictures = charts
      .filter(({ file }) => wanted.includes(file))
      .map(({ file, title }) => `![${title}](media/${file})`);
    const tables = names
      .filter((name) => isShown(groups[name]))
      .map((name) => renderGroup(name, groups[name], summary));
    return pictures.length + tables.length === 0 ? [] : [[`## ${heading}`, ...pictures, ...tables].join("\n\n")];
  });
  return `${[renderIntro(result), renderMeaning(result), ...parts, renderRepeat(result)].join("\n\n")}\n`;
}

function renderIntro({ machine, versions, rounds, at, sizes }) {
  const rows = Object.values(versions).map((version) => version.replace(/, built at .*/, ""));
  return `# Benchmarks

\`npm run bench -- --write\` writes this page. [bench/README.md](../bench/README.md) describes the benchmark.

| | |
|---|---|
| machine | ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB of memory, ${machine.kernel} |
| date | ${at.slice(0, 10)} |
| Node | ${machine.node} |
| versions | ${[...new Set(rows)].join("; ")}${machine.commit === undefined ? "" : `; commit ${machine.commit}`} |
| rounds | ${rounds}; a figure is the median, with minimum and maximum in brackets |
| sizes | ${describeSizes(sizes)} |

Everything runs on this one machine: the crawler, its Redis or PostgreSQL, and nginx with the pages.`;
}

function describeSizes({ pages, scale }) {
  const crawls =
    pages === undefined ? "one site: 4,000 pages; many sites: 41 pages each" : `crawls: ${pages} pages in total`;
  const [operations, memory] = [100_000, 1_000_000].map((urls) => (urls * scale).toLocaleString("en-US"));
  return `${crawls}; frontier operations: ${operations} URLs; frontier memory: ${memory} URLs`;
}

function renderMeaning({ budgetS }) {
  return `- **pages/s**: pages divided by the time from the first request to the last response in the access log of nginx. The
  start of the process is not included.
- **share of what can be reached**: pages/s relative to the lower of two speeds: the allowance (every site gets one
  request per interval) and the same crawl of the same contestant without a rate limit.
- **CPU s/1k pages**: user and system time of all processes of the crawler per 1,000 pages. Redis and PostgreSQL are
  measured separately.
- **peak RSS**: the most memory of all processes of the crawler.
- **short gaps**: gaps between two requests to a site, at the origin, that are more than 1 ms shorter than the interval;
  the largest number of all rounds. The times are those of the kernel for the packets. With "(log)", they come from the
  access log, which has a resolution of 1 ms, so gaps that are up to 2 ms shorter are not counted. At 1,000/s the
  interval is 1 ms, so no gap can be short.
- A run of another crawler ends after ${budgetS} seconds. Its figures are those of the pages that it has fetched until
  then, and the remark says how many.

Trawl reads robots.txt of every site, and keeps its queue and its records on disk during the crawl. Crawlee keeps both in
memory, which is faster, and writes its records at the end. Scrapy keeps its queue in memory. spider-rs stores only URL
and size. The floor stores nothing. [The contestants](../bench/README.md#the-contestants) describes their settings.`;
}

function renderGroup(name, definition, summary) {
  const [headings, ...rows] = tableOf(name, definition, summary);
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  const rule = `|${headings.map((_, nth) => (nth === 0 || headings[nth] === "remarks" ? "---" : "---:")).join("|")}|`;
  const title = `${definition.title[0].toUpperCase()}${definition.title.slice(1)}`;
  return [
    `### ${title}`,
    [line(headings), rule, ...rows.map(line)].join("\n"),
    `\`npm run bench -- --only ${name}\``,
  ].join("\n\n");
}

function renderRepeat({ command }) {
  return `## Repeat it

\`\`\`
${command}
\`\`\`

Use an idle machine with Linux. The benchmark installs the other crawlers into \`.bench/\`, from npm and from Debian
packages. Trawl does not depend on them.`;
}
