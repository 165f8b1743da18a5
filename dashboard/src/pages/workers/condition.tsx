/** How a worker is, in a word; and what the word means. */
import type { WorkerOut } from "../../../../src/api/wire-fleet.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { count, decimal, duration, plural } from "../../ui/format.ts";
import { Tip } from "../../ui/tip.tsx";
import { type Gone, SILENT_AFTER_MS } from "./fleet-rows.ts";

type Condition = { tone: Tone; words: string; tip: string };

type ConditionProps = {
  worker: WorkerOut;
  silentMs: number;
  /** Tasks a second between its last two words; undefined: not known yet. */
  pace: number | undefined;
};

export function Condition({ worker, silentMs, pace }: ConditionProps) {
  return <Shown {...conditionOf(worker, silentMs, pace)} />;
}

export function GoneCondition({ gone, now }: { gone: Gone; now: number }) {
  const { word, ...rest } = GONE[gone.how];
  return <Shown {...rest} words={`${word} ${duration(Math.max(1_000, now - gone.goneAt))} ago`} />;
}

const GONE: Readonly<Record<Gone["how"], { tone: Tone; word: string; tip: string }>> = {
  lost: {
    tone: "bad",
    word: "lost",
    tip: "It was not heard of any more: killed, or cut off from the broker. What it had in hand goes to others when its leases end.",
  },
  replaced: {
    tone: "bad",
    word: "lost",
    tip: "Another process has taken its place, and nobody was seen to ask for that: it was killed, or has crashed. What it had in hand was handed back. Its supervisor has told how it died, where trawl up or trawl worker runs.",
  },
  left: {
    tone: "quiet",
    word: "gone",
    tip: "It has taken its leave: stopped, drained, or retired. Nothing of it is left.",
  },
};

function Shown({ tone, words, tip }: Condition) {
  return (
    <Tip says={tip} isQuiet>
      <Badge tone={tone}>{words}</Badge>
    </Tip>
  );
}

export function conditionOf({ state, order, busy }: WorkerOut, silentMs: number, pace = 0): Condition {
  if (silentMs > SILENT_AFTER_MS) {
    const tip = "Workers tell of themselves every 5 seconds. One that is silent for 15 is taken for dead.";
    return { tone: "bad", words: `silent ${duration(silentMs)}`, tip };
  }
  if (state === "draining") {
    const after = order === "recycle" ? "A fresh process takes its place." : "It ends when they are over.";
    const tip = `It takes no more tasks, and has ${plural(busy ?? 0, "task")} left. ${after}`;
    return {
      tone: "warn",
      words: `${order === "recycle" ? "recycling" : "draining"}, ${count(busy ?? 0)} left`,
      tip,
    };
  }
  if (order !== null) {
    return { tone: "warn", words: `asked to ${order}`, tip: "It hears of it with its next word, within 5 seconds." };
  }
  // Quick tasks are over between two words: what it has in hand just then says little.
  if (busy === 0 && pace === 0)
    return { tone: "quiet", words: "idle", tip: "It has nothing in hand: nothing waits, or all sites must wait." };
  const lately = pace === 0 ? "" : `, ${decimal(pace)} a second lately`;
  return {
    tone: "good",
    words: "working",
    tip: `It had ${plural(busy ?? 0, "task")} in hand when last heard of${lately}.`,
  };
}
