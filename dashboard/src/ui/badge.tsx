import type { ComponentChildren } from "preact";

export type Tone = "good" | "warn" | "bad" | "busy" | "neutral";

/** A state as text. The colour shows the same state. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

const JOB_TONES: Readonly<Record<string, Tone>> = {
  running: "busy",
  paused: "warn",
  finished: "good",
  failed: "bad",
  cancelled: "neutral",
};

export function JobState({ state }: { state: string }) {
  return <Badge tone={JOB_TONES[state] ?? "neutral"}>{state}</Badge>;
}

/** The HTTP status of a response. */
export function StatusBadge({ status }: { status: number }) {
  const tone = status < 300 ? "good" : status < 400 ? "busy" : status < 500 ? "warn" : "bad";
  return <Badge tone={tone}>{status}</Badge>;
}
