/** What became of it: how many were replayed and are due by now, or were discarded. */
import { count, duration, plural } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { now } from "../../visible.ts";
import { spanMs } from "./which.ts";

export type Dealt = { verb: "replay" | "discard"; count: number; perSecond: number; at: number };

export function DealtNote({ dealt, onClose }: { dealt: Dealt; onClose: () => void }) {
  return (
    <div class="told" role="status">
      {dealt.verb === "discard" ? <p>{plural(dealt.count, "letter")} discarded.</p> : <Replayed dealt={dealt} />}
      <button type="button" class="small" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

function Replayed({ dealt }: { dealt: Dealt }) {
  if (dealt.count === 0) {
    return <p>Nothing was queued again: others were faster, or their jobs are cancelled and take nothing back.</p>;
  }
  const wholeMs = spanMs(dealt.count, dealt.perSecond);
  const passedMs = Math.max(0, now.value - dealt.at);
  const due = Math.min(dealt.count, Math.ceil((Math.floor(passedMs / 1000) + 1) * dealt.perSecond));
  const left = wholeMs - passedMs;
  return (
    <div class="dealt-replay">
      <p>
        {plural(dealt.count, "letter")} queued again, {count(due)} due by now
        {left > 0 && `, the last in ${duration(left)}`}. What fails again comes back here.
      </p>
      <Progress done={due} all={dealt.count} label="Letters that are due" />
    </div>
  );
}
