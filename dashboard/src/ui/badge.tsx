import type { ComponentChildren } from "preact";

export type Tone = "good" | "warn" | "bad" | "busy" | "quiet";

/** A state, in words; its colour says the same again. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

const JOB_TONES: Readonly<Record<string, Tone>> = {
  running: "busy",
  paused: "warn",
  finished: "good",
  failed: "bad",
  cancelled: "quiet",
};

export function JobState({ state }: { state: string }) {
  return <Badge tone={JOB_TONES[state] ?? "quiet"}>{state}</Badge>;
}
