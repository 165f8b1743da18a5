/** Formats the workers of a broker as a table and as JSON. */
import { formatBytes, formatCount, plural } from "../../domain/format-number.ts";
import { toOperatorCommand } from "../../frontier/frontier.ts";
import type { WorkerView } from "../../frontier/frontier-admin.ts";
import { workerFacts } from "../../frontier/worker-facts.ts";
import { parseProcessIdentity, shortProcess } from "../../runtime/process-identity.ts";
import { roughAge, shorten, table } from "../terminal.ts";

const HEADING = ["WORKER", "BUSY", "DONE", "FAILED", "MEMORY", "UP", "SEEN", "QUEUES"];
const NUMBERS = [1, 2, 3, 4, 5, 6];
/** On a terminal, names are shortened to this length. */
const MAX_NAME = 18;
const MIN_QUEUES = 8;
const GAP = 2;

export function workersText(workers: readonly WorkerView[], now: number, width: number): string {
  const rows = groupsOf(workers).flatMap((group) => groupRows(group, now, width));
  const used = columnsWidth([HEADING, ...rows]);
  // The list of queues is cut at its end, because the first queues matter most.
  const queuesWidth = Math.max(MIN_QUEUES, width - used);
  const cut = rows.map((row) => [...row.slice(0, -1), cutEnd(row.at(-1) ?? "", queuesWidth)]);
  return `${table([HEADING, ...cut], { right: NUMBERS })}\n${totalText(workers)}`;
}

export function workersJson(workers: readonly WorkerView[]): object {
  return {
    workers: workers.map((view) => {
      const { worker, queues, unknownSpiders, version } = view;
      return { worker, ...parseProcessIdentity(worker), version, queues, unknownSpiders, ...workerFacts(view) };
    }),
  };
}

type Group = { supervisor: string | undefined; workers: readonly WorkerView[] };

/** Groups workers by supervisor, first those without one. Within a group the broker's order is kept. */
function groupsOf(workers: readonly WorkerView[]): Group[] {
  const groups = new Map<string | undefined, WorkerView[]>([[undefined, []]]);
  for (const worker of workers) {
    const { supervisor } = worker.vitals ?? {};
    groups.set(supervisor, [...(groups.get(supervisor) ?? []), worker]);
  }
  return [...groups].map(([supervisor, members]) => ({ supervisor, workers: members }));
}

function groupRows({ supervisor, workers }: Group, now: number, width: number): string[][] {
  if (supervisor === undefined) return workers.map((view) => row(shortName(view.worker, width), view, now));
  const heading = [shortName(supervisor, width), ...NUMBERS.map(() => ""), ""];
  return [
    heading,
    ...workers.map((view) => row(`  ${parseProcessIdentity(view.worker).pid ?? view.worker}`, view, now)),
  ];
}

function row(name: string, { vitals, seenAt, queues }: WorkerView, now: number): string[] {
  const seen = `${roughAge(now - seenAt)} ago`;
  const served = queues.join(",");
  if (vitals === undefined) return [name, "-", "-", "-", "-", "-", seen, served];
  const { busy, concurrency, done, failed, rssBytes, upMs } = vitals;
  const up = roughAge(upMs + now - seenAt);
  const counts = [`${busy}/${concurrency}`, formatCount(done), formatCount(failed)];
  return [name, ...counts, formatBytes(rssBytes), up, seen, served];
}

function shortName(worker: string, width: number): string {
  const name = shortProcess(worker);
  return Number.isFinite(width) ? shorten(name, MAX_NAME) : name;
}

function columnsWidth(rows: readonly (readonly string[])[]): number {
  return [0, ...NUMBERS].reduce((sum, at) => sum + GAP + Math.max(...rows.map((cells) => cells[at]?.length ?? 0)), 0);
}

function cutEnd(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}

function totalText(workers: readonly WorkerView[]): string {
  const sum = (of: "busy" | "concurrency" | "done" | "failed" | "rssBytes") =>
    workers.reduce((total, { vitals }) => total + (vitals?.[of] ?? 0), 0);
  const machines = new Set(workers.map(({ worker }) => parseProcessIdentity(worker).host)).size;
  const where = `${plural(workers.length, "worker")} on ${plural(machines, "machine")}, ${formatBytes(sum("rssBytes"))}`;
  const running = `${formatCount(sum("busy"))} of ${plural(sum("concurrency"), "task")} running`;
  const ended = `${formatCount(sum("done"))} done, ${formatCount(sum("failed"))} failed`;
  return `${where}\n${running}, ${ended}\n${leavingText(workers)}${versionsText(workers)}`;
}

/** Lists the workers that are draining or have a pending command. */
function leavingText(workers: readonly WorkerView[]): string {
  const leaving = workers.filter(({ vitals, command }) => vitals?.state === "draining" || command !== undefined);
  return leaving
    .map(({ worker, vitals, command }) => {
      const progress =
        vitals?.state === "draining" ? `draining, ${plural(vitals.busy, "task")} left` : "not received yet";
      const pending = command === undefined ? "" : `${toOperatorCommand(command)} requested: `;
      return `${shortProcess(worker)}: ${pending}${progress}\n`;
    })
    .join("");
}

/** Lists the versions of the workers. Empty if all workers have the same version. */
function versionsText(workers: readonly WorkerView[]): string {
  const versions = [...new Set(workers.map(({ version }) => version))].sort();
  if (versions.length < 2) return "";
  const counts = versions.map((version) => `${workers.filter((one) => one.version === version).length} on ${version}`);
  return `the workers run different versions of Trawl: ${counts.join(", ")}\n`;
}
