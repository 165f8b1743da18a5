/** All URLs of the job as a bar, divided by their state. */
import type { JobOut } from "../../../../src/client/client.ts";
import { count, percent, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Tip } from "../../ui/tip.tsx";
import { allOf, COUNT_TEXT, type Count, settledOf } from "../jobs/job-counts.ts";

const PARTS: readonly Count[] = ["done", "dead", "cancelled", "leased", "delayed", "queued"];
const NOT_FETCHED: readonly Count[] = ["duplicate", "refused"];
const NAMES: Partial<Record<Count, string>> = {
  leased: "in flight",
  dead: "failed",
  delayed: "waiting for retry",
};

export function Ledger({ job }: { job: JobOut }) {
  const { counts } = job;
  const all = allOf(job);
  const done = settledOf(job);
  const total = counts.submitted + counts.discovered;
  return (
    <Card class="ledger">
      <div class="card-body">
        <p class="ledger-head">
          <Tip text={`${count(done)} of ${plural(all, "URL")} are finished. The total grows as links are discovered.`}>
            <strong>{percent(all === 0 ? null : done / all)}</strong> complete
          </Tip>
          <Tip
            text={`Submitted: ${COUNT_TEXT.submitted} Discovered: ${COUNT_TEXT.discovered} The counts below always add up to this total.`}
          >
            {plural(total, "URL")}: {count(counts.submitted)} submitted, {count(counts.discovered)} discovered
          </Tip>
        </p>
        <div
          class="ledger-bar"
          role="img"
          aria-label={PARTS.map((part) => `${nameOf(part)} ${count(counts[part])}`).join(", ")}
        >
          {PARTS.filter((part) => counts[part] > 0).map((part) => (
            <Tip
              key={part}
              text={`${nameOf(part)}: ${count(counts[part])}`}
              isUnfocusable
              class={`plain ledger-part ledger-${part}`}
            >
              <Share value={counts[part]} />
            </Tip>
          ))}
        </div>
        <ul class="ledger-legend">
          {[...PARTS, ...NOT_FETCHED].map((part) => (
            <li key={part} class={counts[part] === 0 ? "is-zero" : ""}>
              <Tip text={COUNT_TEXT[part]}>
                <i class={`ledger-dot ledger-${part}`} />
                {nameOf(part)} <b>{count(counts[part])}</b>
              </Tip>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}

function nameOf(part: Count): string {
  return NAMES[part] ?? part;
}

/** Sets the flex-grow of its parent to the count, so that the parts share the width. */
function Share({ value }: { value: number }) {
  return (
    <span
      class="ledger-share"
      ref={(element) => {
        element?.parentElement?.style.setProperty("flex-grow", String(value));
      }}
    />
  );
}
