/** One run: a contestant crawls a site, starting with an empty folder, and its requests are checked. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { BENCH_FOLDER, CONTESTANTS } from "./contestants.mjs";
import { measure } from "./measure.mjs";

const STDERR_LINES = 15;
const SERVER_BUSY_SHARE = 0.9;

/**
 * Never throws because of a contestant. `problems` is not empty if the run failed or did not fetch every page exactly
 * once; the figures of such a run are ignored.
 */
export async function runContestant({ name, round, site, timeoutMs, signal, alter = (command) => command }) {
  const scratch = await makeScratch();
  try {
    await site.reset();
    const command = alter(CONTESTANTS[name].command(site.url, scratch));
    const outcome = await measure(command, { scratch, timeoutMs, signal });
    const seen = await site.report();
    const problems = findProblems(outcome, seen, { name, timeoutMs, signal });
    return { contestant: name, round, ...figures(outcome, seen), problems, notes: findNotes(seen), seen };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

// Does not use the temporary folder of the system: if that folder is in memory, durable writes would cost nothing.
async function makeScratch() {
  const parent = join(BENCH_FOLDER, "tmp");
  await mkdir(parent, { recursive: true });
  return mkdtemp(join(parent, "run-"));
}

function figures({ cost, peakRssBytes }, { fetchedPages }) {
  if (cost === undefined) return { pages: fetchedPages };
  const cpuS = cost.userS + cost.systemS;
  return {
    pages: fetchedPages,
    wallS: cost.wallS,
    cpuS,
    userS: cost.userS,
    systemS: cost.systemS,
    pagesPerS: fetchedPages / cost.wallS,
    cpuSPer1kPages: (cpuS / fetchedPages) * 1_000,
    peakRssMb: peakRssBytes / 1_000_000,
  };
}

function findProblems(outcome, seen, { name, timeoutMs, signal }) {
  if (outcome.wasKilled) {
    const why = signal.aborted ? "was interrupted" : `was killed after ${timeoutMs / 1_000} s`;
    return [`${why}, with ${seen.fetchedPages} of ${seen.pages} pages fetched`];
  }
  const problems = [];
  if (outcome.exitCode !== 0) problems.push(`ended with code ${outcome.exitCode}:\n${lastLines(outcome.stderr)}`);
  if (seen.missedPages > 0) problems.push(`missed ${seen.missedPages} of ${seen.pages} pages, ${sample(seen.missed)}`);
  if (seen.repeatedPages > 0) problems.push(`fetched ${seen.repeatedPages} pages twice, ${sample(seen.repeated)}`);
  if (outcome.exitCode === 0) problems.push(...checkClaims(outcome.stdout, seen, CONTESTANTS[name].keepsRecords));
  return problems;
}

/**
 * The last line of stdout is a JSON object with the contestant's own counts. They must match the counts of the server.
 */
function checkClaims(stdout, seen, expectsRecords) {
  const line = stdout.trimEnd().split("\n").at(-1);
  const claims = parseObject(line);
  if (claims === undefined) return [`its last line of stdout is not a JSON object: ${line.slice(0, 200)}`];
  const problems = [];
  if (claims.pages !== seen.fetchedPages)
    problems.push(`reports ${claims.pages} pages; the server counted ${seen.fetchedPages}`);
  if (expectsRecords && claims.records !== seen.fetchedPages) {
    problems.push(`stored ${claims.records} records of ${seen.fetchedPages} pages`);
  }
  return problems;
}

function parseObject(line) {
  try {
    const parsed = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? parsed : undefined;
  } catch {
    // The caller reports a line that is not JSON.
    return undefined;
  }
}

function findNotes(seen) {
  const notes = [];
  if (seen.busyShare > SERVER_BUSY_SHARE) {
    notes.push(`the server was busy ${Math.round(seen.busyShare * 100)} % of the time: pages/s is a lower bound`);
  }
  const others = Object.entries(seen.otherRequests).filter(([request]) => request !== "GET /robots.txt");
  if (others.length > 0)
    notes.push(`requested URLs that are not pages: ${others.map(([request, times]) => `${request} x${times}`)}`);
  return notes;
}

function lastLines(text) {
  const lines = text.trimEnd().split("\n").slice(-STDERR_LINES);
  return lines.map((line) => `    ${line}`).join("\n");
}

function sample(paths) {
  return `such as ${paths.slice(0, 3).join(" ")}`;
}
