/** Reports the result of a replay or a discard. */
import { duration, plural } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { now } from "../../visible.ts";
import { spanMs } from "./dead-filter.ts";

export type DeadActionResult = { verb: "replay" | "discard"; count: number; perSecond: number; at: number };

export function DeadActionNotice({ result, onClose }: { result: DeadActionResult; onClose: () => void }) {
  return (
    <div class="notice" role="status">
      {result.verb === "discard" ? (
        <p>{plural(result.count, "dead letter")} discarded.</p>
      ) : (
        <Replayed result={result} />
      )}
      <button type="button" class="small" onClick={onClose}>
        Close
      </button>
    </div>
  );
}

function Replayed({ result }: { result: DeadActionResult }) {
  if (result.count === 0) {
    return <p>No dead letters were replayed: they were already replayed or discarded, or their jobs are cancelled.</p>;
  }
  const wholeMs = spanMs(result.count, result.perSecond);
  const passedMs = Math.max(0, now.value - result.at);
  const due = Math.min(result.count, Math.ceil((Math.floor(passedMs / 1000) + 1) * result.perSecond));
  const left = wholeMs - passedMs;
  return (
    <div class="replay-progress">
      <p>
        {plural(result.count, "dead letter")} replayed. {plural(due, "URL is", "URLs are")} due so far
        {left > 0 && `; the last one is due in ${duration(left)}`}. URLs that fail again return to this list.
      </p>
      <Progress done={due} all={result.count} label="Dead letters that are due" />
    </div>
  );
}
