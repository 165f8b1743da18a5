/** What a supervisor tells of its processes on stderr: words for a person, or JSON lines for a machine. */

import { plural } from "../../domain/counted.ts";
import { formatDuration } from "../../domain/duration.ts";
import { shownOrder, type WorkerOrder } from "../../frontier/frontier.ts";
import { createLog } from "../../runtime/log.ts";
import { createRedact } from "../../runtime/redact.ts";
import { showable } from "../../runtime/showable.ts";
import { howItDied } from "../../worker/pool/blame.ts";
import type { ChildFailure } from "../../worker/pool/messages.ts";
import type { ChildDeath, Place, SupervisorEvents } from "../../worker/pool/supervisor.ts";
import type { Screen } from "../terminal.ts";

export type PoolVoice = Omit<SupervisorEvents, "finished"> & {
  /** An operator asks something of one of them. */
  ordered(asked: Place & { order: WorkerOrder }): void;
};

type Options = { isJson: boolean; quiet: boolean; maxMemoryMb: number };

export function createPoolVoice(screen: Screen, { isJson, quiet, maxMemoryMb }: Options): PoolVoice {
  const voice = isJson ? jsonVoice(screen) : plainVoice(screen, maxMemoryMb);
  return quiet
    ? {
        started: () => {},
        waiting: () => {},
        ordered: () => {},
        ended: (death) => death.exit.isClean || voice.ended(death),
      }
    : voice;
}

/** How a process is called: by its group, where there are several. */
export function placeName({ nth, group = "process" }: Place): string {
  return `${group} ${nth}`;
}

function jsonVoice(screen: Screen): PoolVoice {
  const log = createLog("info", screen.err);
  const placed = ({ nth, group }: Place) => ({ ...(group === undefined ? {} : { group }), process: nth });
  return {
    started: ({ pid, ...place }) => log.info("pool.process_started", { ...placed(place), pid }),
    ended({ pid, exit, killed, underWay, handedBack, ...place }) {
      const { isClean, isOutOfMemory, failure, lack, ...how } = exit;
      const why = { ...(killed === undefined ? {} : { killed }), ...(isOutOfMemory ? { isOutOfMemory } : {}) };
      const fields = { ...placed(place), pid, ...how, ...why };
      if (isClean) log.info("pool.process_ended", fields);
      else if (failure !== undefined) log.warn("pool.process_failed", { ...fields, ...failure });
      else if (lack !== undefined) log.warn("pool.process_lacking", { ...fields, ...lack });
      else log.warn("pool.process_died", { ...fields, underWay, handedBack });
    },
    waiting: ({ delayMs, ...place }) => log.info("pool.process_waits", { ...placed(place), delayMs }),
    ordered: ({ order, ...place }) => log.info("pool.process_ordered", { ...placed(place), order }),
  };
}

function plainVoice(screen: Screen, maxMemoryMb: number): PoolVoice {
  const say = (words: string) => screen.err(`${showable(words)}\n`);
  const lacks = new Map<string, string>();

  /** Once, and not by one process after another, until it is mended. */
  function tellLack(name: string, { code, message }: ChildFailure): void {
    if (![...lacks.values()].includes(message)) say(`trawl: ${code}: ${message}`);
    lacks.set(name, message);
  }

  return {
    // On a terminal the line at the bottom tells how many there are.
    started: ({ pid, ...place }) => screen.isLive || say(`${placeName(place)} (${pid}) started`),
    ended(death) {
      const { pid, exit } = death;
      if (exit.failure !== undefined) return; // told once, at the end, for all
      if (exit.lack !== undefined) return tellLack(placeName(death), exit.lack);
      lacks.delete(placeName(death));
      if (!exit.isClean) say(deathInWords(death, maxMemoryMb));
      else if (!screen.isLive) say(`${placeName(death)} (${pid}) ended`);
    },
    waiting: ({ delayMs, ...place }) => say(`${placeName(place)} is started again in ${formatDuration(delayMs)}`),
    ordered: ({ order, ...place }) => say(`${placeName(place)}: an operator has asked to ${shownOrder(order)} it`),
  };
}

const NAMED = 3;

function deathInWords(death: ChildDeath, maxMemoryMb: number): string {
  const { pid, underWay } = death;
  return `${placeName(death)} (${pid}) ${endInWords(death, maxMemoryMb)}; ${heldInWords(underWay)}`;
}

function endInWords({ exit, killed }: ChildDeath, maxMemoryMb: number): string {
  switch (killed) {
    case "time_limit":
      return "was stuck for longer than the time limit and has been killed";
    case "stuck":
      return "was stuck for so long that leases would be lost, and has been killed";
    case "stop_timeout":
      return "did not stop in time and has been killed";
    default:
      return howItDied({ exit, killed }, { maxMemoryMb });
  }
}

/** Those first that were being read: one of them is why. */
function heldInWords(underWay: ChildDeath["underWay"]): string {
  if (underWay.length === 0) return "it had nothing in hand";
  const read = underWay.filter(({ isReading }) => isReading);
  const [shown, what] = read.length > 0 ? [read, "it was reading"] : [underWay, "it was waiting for"];
  const { text: masked } = createRedact([]);
  const urls = shown.slice(0, NAMED).map(({ url }) => masked(url));
  const names = [...urls, ...(shown.length > NAMED ? ["…"] : [])].join(" ");
  return `${what} ${names} (${plural(underWay.length, "task")} in hand)`;
}
