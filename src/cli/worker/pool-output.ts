/** The messages of a supervisor about its processes on stderr, as text or as JSON lines. */

import { formatDuration } from "../../domain/duration.ts";
import { plural } from "../../domain/format-number.ts";
import { toOperatorCommand, type WorkerCommand } from "../../frontier/frontier.ts";
import { createLog } from "../../runtime/log.ts";
import { createRedact } from "../../runtime/redact.ts";
import { showable } from "../../runtime/showable.ts";
import { howItDied } from "../../worker/pool/attribute-crash.ts";
import type { ChildFailure } from "../../worker/pool/messages.ts";
import type { ChildDeath, Place, SupervisorEvents } from "../../worker/pool/supervisor.ts";
import type { Screen } from "../terminal.ts";

export type PoolOutput = Omit<SupervisorEvents, "finished"> & {
  /** An operator sent a command to one of the processes. */
  commandReceived(command: Place & { command: WorkerCommand }): void;
};

type Options = { isJson: boolean; quiet: boolean; maxMemoryMb: number };

export function createPoolOutput(screen: Screen, { isJson, quiet, maxMemoryMb }: Options): PoolOutput {
  const output = isJson ? jsonOutput(screen) : textOutput(screen, maxMemoryMb);
  return quiet
    ? {
        started: () => {},
        waiting: () => {},
        commandReceived: () => {},
        ended: (death) => death.exit.isClean || output.ended(death),
      }
    : output;
}

/** The name of a process in messages: its group, if there are several, and its number. */
export function placeName({ nth, group = "process" }: Place): string {
  return `${group} ${nth}`;
}

function jsonOutput(screen: Screen): PoolOutput {
  const log = createLog("info", screen.err);
  const placed = ({ nth, group }: Place) => ({ ...(group === undefined ? {} : { group }), process: nth });
  return {
    started: ({ pid, ...place }) => log.info("pool.process_started", { ...placed(place), pid }),
    ended({ pid, exit, killed, underWay, returned, ...place }) {
      const { isClean, isOutOfMemory, failure, problem, ...how } = exit;
      const why = { ...(killed === undefined ? {} : { killed }), ...(isOutOfMemory ? { isOutOfMemory } : {}) };
      const fields = { ...placed(place), pid, ...how, ...why };
      if (isClean) log.info("pool.process_ended", fields);
      else if (failure !== undefined) log.warn("pool.process_failed", { ...fields, ...failure });
      else if (problem !== undefined) log.warn("pool.process_unavailable", { ...fields, ...problem });
      else log.warn("pool.process_died", { ...fields, underWay, returned });
    },
    waiting: ({ delayMs, ...place }) => log.info("pool.process_waits", { ...placed(place), delayMs }),
    commandReceived: ({ command, ...place }) => log.info("pool.command_received", { ...placed(place), command }),
  };
}

function textOutput(screen: Screen, maxMemoryMb: number): PoolOutput {
  const print = (message: string) => screen.err(`${showable(message)}\n`);
  const missing = new Map<string, string>();

  /** Prints a missing requirement only once, although every process reports it after every restart. */
  function printMissing(name: string, { code, message }: ChildFailure): void {
    if (![...missing.values()].includes(message)) print(`trawl: ${code}: ${message}`);
    missing.set(name, message);
  }

  return {
    // On a terminal the progress line shows the number of processes.
    started: ({ pid, ...place }) => screen.isLive || print(`${placeName(place)} (${pid}) started`),
    ended(death) {
      const { pid, exit } = death;
      if (exit.failure !== undefined) return; // printed once, when the supervisor exits with it
      if (exit.problem !== undefined) return printMissing(placeName(death), exit.problem);
      missing.delete(placeName(death));
      if (!exit.isClean) print(deathText(death, maxMemoryMb));
      else if (!screen.isLive) print(`${placeName(death)} (${pid}) exited`);
    },
    waiting: ({ delayMs, ...place }) => print(`${placeName(place)} restarts in ${formatDuration(delayMs)}`),
    commandReceived: ({ command, ...place }) =>
      print(`${placeName(place)}: ${toOperatorCommand(command)} requested by an operator`),
  };
}

const NAMED = 3;

function deathText(death: ChildDeath, maxMemoryMb: number): string {
  const { pid, underWay } = death;
  return `${placeName(death)} (${pid}) ${endText(death, maxMemoryMb)}; ${tasksText(underWay)}`;
}

function endText({ exit, killed }: ChildDeath, maxMemoryMb: number): string {
  switch (killed) {
    case "time_limit":
      return "was blocked for longer than the time limit and was killed";
    case "stuck":
      return "was blocked for so long that its leases would expire, and was killed";
    case "stop_timeout":
      return "did not stop in time and was killed";
    default:
      return howItDied({ exit, killed }, { maxMemoryMb });
  }
}

/**
 * The running tasks of a process that died. Tasks whose handler was running come first, because one of them is the
 * likely cause.
 */
function tasksText(underWay: ChildDeath["underWay"]): string {
  if (underWay.length === 0) return "it had no running tasks";
  const processing = underWay.filter(({ isReading }) => isReading);
  const [shown, what] = processing.length > 0 ? [processing, "it was processing"] : [underWay, "it was waiting for"];
  const { text: masked } = createRedact([]);
  const urls = shown.slice(0, NAMED).map(({ url }) => masked(url));
  const names = [...urls, ...(shown.length > NAMED ? ["…"] : [])].join(" ");
  return `${what} ${names} (${plural(underWay.length, "running task")})`;
}
