/** What a supervisor tells of its processes on stderr: words for a person, or JSON lines for a machine. */
import { formatDuration } from "../../domain/duration.ts";
import { createLog } from "../../runtime/log.ts";
import { showable } from "../../runtime/showable.ts";
import type { ChildDeath, SupervisorEvents } from "../../worker/pool/supervisor.ts";
import type { KillReason } from "../../worker/pool/verdict.ts";
import { plural, type Screen } from "../terminal.ts";

export type PoolVoice = SupervisorEvents;

export function createPoolVoice(screen: Screen, { isJson, quiet }: { isJson: boolean; quiet: boolean }): PoolVoice {
  const voice = isJson ? jsonVoice(screen) : plainVoice(screen);
  return quiet
    ? { started: () => {}, waiting: () => {}, ended: (death) => death.exit.isClean || voice.ended(death) }
    : voice;
}

function jsonVoice(screen: Screen): PoolVoice {
  const log = createLog("info", screen.err);
  return {
    started: ({ nth, pid }) => log.info("pool.process_started", { process: nth, pid }),
    ended({ nth, pid, exit, killed, underWay, handedBack }) {
      const { isClean, ...how } = exit;
      const fields = { process: nth, pid, ...how, ...(killed === undefined ? {} : { killed }) };
      if (isClean) log.info("pool.process_ended", fields);
      else log.warn("pool.process_died", { ...fields, underWay, handedBack });
    },
    waiting: ({ nth, delayMs }) => log.info("pool.process_waits", { process: nth, delayMs }),
  };
}

const KILLED: Record<KillReason, string> = {
  time_limit: "was stuck for longer than the time limit and has been killed",
  memory: "took twice the memory it may and has been killed",
  stop_timeout: "did not stop in time and has been killed",
};
const NAMED = 3;

function plainVoice(screen: Screen): PoolVoice {
  const say = (words: string) => screen.err(`${showable(words)}\n`);
  return {
    started: () => {},
    ended(death) {
      if (!death.exit.isClean) say(deathInWords(death));
    },
    waiting: ({ nth, delayMs }) => say(`process ${nth} is started again in ${formatDuration(delayMs)}`),
  };
}

function deathInWords({ nth, pid, exit, killed, underWay }: ChildDeath): string {
  const how = killed === undefined ? `died (${exit.signal ?? `exit code ${exit.code}`})` : KILLED[killed];
  return `process ${nth} (${pid}) ${how}; ${heldInWords(underWay)}`;
}

function heldInWords(underWay: ChildDeath["underWay"]): string {
  if (underWay.length === 0) return "it had nothing in hand";
  const urls = underWay.slice(0, NAMED).map(({ url }) => url);
  const names = [...urls, ...(underWay.length > NAMED ? ["…"] : [])].join(" ");
  return `it had ${plural(underWay.length, "task")} in hand: ${names}`;
}
