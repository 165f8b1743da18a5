/** One run: a contestant crawls the sites of the origin, starting with an empty folder, and its requests are judged. */
import { rm } from "node:fs/promises";
import { makeScratch } from "../harness/folders.mjs";
import { measure } from "../harness/measure.mjs";
import { judgeGaps, judgeRequests, judgeShares, leastSeconds } from "../origin/judge-requests.mjs";
import { startCapture } from "../origin/tcpdump.mjs";
import { limitsOf } from "./workloads.mjs";

const STDERR_LINES = 15;
const LOG_RESOLUTION_MS = 1;

/**
 * `urls` are the start URLs; the requests to `ignoredSite` are not judged. If the run fails, it does not throw:
 * `problems` is then not empty, and the figures must be ignored. A peer that lost pages or was ended after `budgetMs`
 * has figures, and `notes` says what happened. A Trawl run that lost pages fails.
 */
export async function runCrawl({
  contestant,
  workload,
  origin,
  urls = origin.urls,
  ignoredSite,
  services,
  options,
  signal,
  alter = (command) => command,
}) {
  const scratch = await makeScratch();
  const opened = {};
  try {
    for (const name of contestant.services)
      opened[name] = name === "redis" ? await services.startRedis() : await services.openPostgres();
    const serviceUrls = Object.fromEntries(Object.entries(opened).map(([name, { url }]) => [name, url]));
    const run = { urls, limits: limitsOf(workload), scratch, serviceUrls, ...workload };
    const command = alter(await contestant.command(run));
    const capture = options.packets ? await startCapture({ port: origin.port, folder: scratch }) : undefined;
    await origin.mark();
    const { timeoutMs } = options;
    const budgetMs = contestant.isPeer ? options.budgetMs : undefined;
    const outcome = await measure(command, { scratch, timeoutMs, budgetMs, signal });
    const servicesCpuS = Object.fromEntries(Object.entries(opened).map(([name, { cpuS }]) => [name, cpuS()]));
    const scripts = await opened.redis?.scripts();
    const requests = (await origin.readRequests()).filter(({ site }) => site !== ignoredSite);
    const packets = await capture?.stop();
    return resultOf({
      ...{ contestant, workload, origin, outcome, requests, packets, servicesCpuS, scripts },
      ...{ ignoresSite: ignoredSite !== undefined, timeoutMs, signal },
    });
  } finally {
    for (const { close } of Object.values(opened)) await close();
    await rm(scratch, { recursive: true, force: true });
  }
}

function resultOf({ contestant, workload, origin, outcome, requests, packets, servicesCpuS, scripts, ...rest }) {
  const { ignoresSite, timeoutMs, signal } = rest;
  const judged = judgeRequests(requests, { sites: origin.addresses, paths: origin.paths });
  const { problems, notes } = findFaults({ contestant, outcome, judged, ignoresSite, timeoutMs, signal });
  const figures =
    outcome.cost === undefined || judged.pages === 0 ? {} : figuresOf(outcome, judged, servicesCpuS, scripts);
  if (judged.pages === 0 && problems.length === 0) problems.push("fetched no page");
  const { gaps, note } = gapsOf({ workload, requests, packets });
  if (note !== undefined) notes.push(note);
  const allowancePerS = allowanceOf(workload, requests, judged);
  const shares = workload.intervalMs === undefined ? undefined : judgeShares(requests, workload.intervalMs);
  const siteShares = { siteShareMedian: shares?.median, siteShareWorst: shares?.worst };
  return { ...figures, ...siteShares, allowancePerS, gaps, problems, notes, judged };
}

function figuresOf({ cost, peakRssBytes }, { pages, pagesPerS, seconds }, servicesCpuS, scripts) {
  const perThousand = (cpuS) => (cpuS / pages) * 1_000;
  return {
    pages,
    seconds,
    pagesPerS,
    wallS: cost.wallS,
    cpuSPer1k: perThousand(cost.userS + cost.systemS),
    servicesCpuSPer1k: Object.fromEntries(
      Object.entries(servicesCpuS).map(([name, cpuS]) => [name, perThousand(cpuS)]),
    ),
    scriptsPerPage: scripts && scripts.calls / pages,
    scriptSPer1k: scripts && perThousand(scripts.seconds),
    peakRssMb: peakRssBytes / 1e6,
  };
}

/** The pages per second if every site gets one request per interval; undefined without a rate. */
function allowanceOf({ intervalMs, sites }, requests, judged) {
  if (intervalMs === undefined || judged.pages === 0) return undefined;
  const isWhole = judged.missed === 0;
  // An incomplete crawl may have fetched most of its pages from one site, so its allowance is the sum of the rates.
  return isWhole ? judged.pages / leastSeconds(requests, intervalMs) : (sites * 1_000) / intervalMs;
}

function gapsOf({ workload: { intervalMs }, requests, packets }) {
  if (intervalMs === undefined) return {};
  const by = packets === undefined ? "log" : "packets";
  const resolutionMs = packets === undefined ? LOG_RESOLUTION_MS : 0;
  const judged = judgeGaps(packets?.requests ?? requests, { intervalMs, resolutionMs });
  const gaps = judged && { by, ...judged };
  const isWhole = packets === undefined || (packets.dropped === 0 && packets.requests.length === requests.length);
  if (isWhole) return { gaps };
  const counts = `${packets.requests.length} of ${requests.length} requests`;
  return { gaps, note: `the capture has ${counts} (${packets.dropped} packets dropped)` };
}

function findFaults({ contestant, outcome, judged, ignoresSite, timeoutMs, signal }) {
  const total = judged.pages + judged.missed;
  const notes = [];
  if (outcome.wasKilled) {
    const why = signal.aborted ? "was interrupted" : `was killed after ${timeoutMs / 1_000} s`;
    return { problems: [`${why}, with ${judged.pages} of ${total} pages fetched`], notes };
  }
  if (outcome.wasStopped) {
    notes.push(`ended by the time budget, with ${judged.pages} of ${total} pages`);
    return { problems: [], notes };
  }
  const faults = [];
  const claims = parseLastLine(outcome.stdout);
  if (judged.missed > 0) faults.push(`missed ${judged.missed} of ${total} pages, such as ${judged.missedExamples[0]}`);
  if (judged.repeated > 0) faults.push(`fetched ${judged.repeated} pages twice, such as ${judged.repeatedExamples[0]}`);
  if (!ignoresSite && claims?.records !== undefined && claims.records !== judged.pages)
    faults.push(`${claims.records} records of ${judged.pages} pages`);
  if (contestant.keepsRecords && claims?.records === undefined) faults.push("reported no number of records");
  if (judged.others.length > 0)
    notes.push(`requested URLs that are not pages: ${judged.others.slice(0, 3).join(", ")}`);
  if (outcome.exitCode !== 0)
    return { problems: [`ended with code ${outcome.exitCode}:\n${lastLines(outcome.stderr)}`, ...faults], notes };
  // The figures of a peer that loses pages are valid; the table shows the loss.
  return contestant.isPeer ? { problems: [], notes: [...faults, ...notes] } : { problems: faults, notes };
}

/** The last line of stdout is a JSON object with the contestant's own counts. */
function parseLastLine(stdout) {
  try {
    return JSON.parse(stdout.trimEnd().split("\n").at(-1));
  } catch {
    return undefined; // the caller reports missing counts
  }
}

function lastLines(text) {
  const lines = text.trimEnd().split("\n").slice(-STDERR_LINES);
  return lines.map((line) => `    ${line}`).join("\n");
}
