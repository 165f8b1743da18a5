/** Formats runs as tables. */
import { alignColumns, formatSpread, group } from "../harness/report.mjs";
import { summarise } from "./judge.mjs";

const percent = (share) => `${(share * 100).toFixed(2)} %`;
const seconds = (value) => value.toFixed(2);
const millis = (value) => value.toFixed(2);

/** One line for each run, as soon as it has ended. */
export function formatProgress({ case: name, contestant, variant, round, figures, problem }) {
  const options = Object.entries(variant).map(([key, value]) => ` ${key} ${value}`);
  const lead = `round ${round} ${name} ${contestant}${options.join("")}`;
  return problem === undefined ? `${lead}: ${formatBriefly(figures)}` : `${lead} FAILED: ${problem}`;
}

function formatBriefly({
  add,
  lease,
  settle,
  fresh,
  drain,
  rows,
  p50Ms,
  pendingBytes,
  seenBytes,
  wasted,
  commandsPerS,
}) {
  if (add) return `add ${group(add.perS)}/s, lease ${group(lease.perS)}/s, settle ${group(settle.perS)}/s`;
  if (fresh ?? drain) return `${group((fresh ?? drain).perS)}/s`;
  if (rows) return rows.map(({ ratio }) => `${ratio.toFixed(2)}x`).join(", ");
  if (p50Ms !== undefined) return `${millis(p50Ms)} ms`;
  if (pendingBytes !== undefined) return `${pendingBytes.toFixed(1)} bytes pending, ${seenBytes.toFixed(1)} seen`;
  return wasted === undefined ? `${commandsPerS.toFixed(1)} commands/s` : `${wasted} wasted`;
}

/** Formats all tables that have rows. */
export function formatTables(runs) {
  const tables = [
    ratesTable("enqueue: new URLs, batches of 500, 4 at a time", runs, "enqueue", ({ fresh }) => fresh),
    ratesTable("enqueue: the same URLs again", runs, "enqueue", ({ again }) => again),
    ratesTable("lease and settle, no work in between", runs, "drain", ({ drain }) => drain),
    ratesTable("add alone", runs, "operations", ({ add }) => add),
    ratesTable("lease alone", runs, "operations", ({ lease }) => lease),
    ratesTable("settle alone", runs, "operations", ({ settle }) => settle),
    latencyTable("from submit to an idle worker, ms", runs, "latency"),
    latencyTable(
      "from submit to the first byte at the site, with workers in separate processes, ms",
      runs,
      "first-byte",
    ),
    memoryTable(runs),
    growthTable("lease and settle, by number of pending tasks", runs, "growth"),
    growthTable("lease and settle, by number of sites", runs, "sites"),
    spacingTable(runs),
    idleTable(runs),
  ];
  return tables.filter((table) => table !== undefined).join("\n\n");
}

function ratesTable(title, runs, name, read) {
  const rows = summarise(runs, name, read).map((entry) => [
    nameOf(entry),
    group(entry.count.median),
    formatSpread(entry.perS, group),
    formatSpread(entry.cpuSPer100k, seconds),
    seconds(entry.clientCpuSPer100k.median),
    seconds(entry.redisCpuSPer100k.median),
  ]);
  return table(title, ["contestant", "URLs", "URLs/s", "CPU s/100k", "client", "Redis"], rows);
}

function latencyTable(title, runs, name) {
  const rows = summarise(runs, name, (figures) => figures).map((entry) => [
    nameOf(entry),
    group(entry.samples.median),
    ...[entry.p50Ms, entry.p99Ms, entry.maxMs].map((figure) => formatSpread(figure, millis)),
  ]);
  return table(title, ["contestant", "samples", "p50", "p99", "most"], rows);
}

function memoryTable(runs) {
  const rows = validRuns(runs, "memory").map(({ contestant, figures }) => [
    contestant,
    group(figures.urls),
    figures.pendingBytes.toFixed(1),
    figures.seenBytes.toFixed(1),
  ]);
  return table(
    "bytes per URL of 60 characters: memory of Redis, or broker file",
    ["contestant", "URLs", "pending", "seen"],
    rows,
  );
}

function growthTable(title, runs, name) {
  const rows = validRuns(runs, name).flatMap(({ figures }) =>
    figures.rows.map(({ pending, sites, perS, smallPerS, ratio }) => [
      group(pending),
      group(sites),
      group(perS),
      group(smallPerS),
      `${ratio.toFixed(2)}x`,
    ]),
  );
  return table(title, ["pending", "sites", "tasks/s", "with 1k pending", "ratio"], rows);
}

function spacingTable(runs) {
  const rows = validRuns(runs, "spacing").map(({ figures }) => [
    group(figures.sites),
    ...[figures.grants, figures.wasted].map(group),
    percent(figures.usedShare),
  ]);
  const headings = ["sites", "grants", "too close", "allowance used"];
  return table("wasted grants, sites at one request per 50 ms", headings, rows);
}

function idleTable(runs) {
  const rows = validRuns(runs, "idle").map(({ contestant, figures }) => [
    contestant,
    group(figures.workers),
    percent(figures.redisCpuShare),
    percent(figures.redisCpuShareAlone),
    figures.commandsPerS.toFixed(1),
  ]);
  const headings = ["contestant", "workers", "Redis CPU", "Redis CPU without workers", "commands/s"];
  return table("idle workers", headings, rows);
}

function validRuns(runs, name) {
  return runs.filter((run) => run.case === name && run.figures !== undefined);
}

function nameOf({ contestant, variant }) {
  return [contestant, ...Object.entries(variant).map(([key, value]) => `${key} ${value}`)].join(", ");
}

function table(title, headings, rows) {
  return rows.length === 0 ? undefined : `${title}\n${alignColumns([headings, ...rows])}`;
}
