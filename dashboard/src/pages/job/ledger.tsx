/** Where every URL of the job is: what came in, as a bar of what became of it. */
import type { JobOut } from "../../../../src/client/client.ts";
import { count, percent, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Tip } from "../../ui/tip.tsx";
import { allOf, COUNT_WORDS, type Count, settledOf } from "../jobs/job-numbers.ts";

const PARTS: readonly Count[] = ["done", "dead", "cancelled", "leased", "delayed", "queued"];
const APART: readonly Count[] = ["duplicate", "refused"];
const NAMES: Partial<Record<Count, string>> = {
  leased: "in flight",
  dead: "given up on",
  delayed: "to be tried again",
};

export function Ledger({ job }: { job: JobOut }) {
  const { counts } = job;
  const all = allOf(job);
  const done = settledOf(job);
  const income = counts.submitted + counts.discovered;
  return (
    <Card class="ledger">
      <div class="card-body">
        <p class="ledger-head">
          <Tip says={`${count(done)} of ${plural(all, "URL")} done with. Links that are found make it more.`}>
            <strong>{percent(all === 0 ? null : done / all)}</strong> done with
          </Tip>
          <Tip
            says={`${COUNT_WORDS.submitted} ${COUNT_WORDS.discovered} What came in is, at any instant, the sum of all that stands below.`}
          >
            {count(income)} came in: {count(counts.submitted)} submitted, {count(counts.discovered)} discovered
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
              says={`${nameOf(part)}: ${count(counts[part])}`}
              isQuiet
              class={`plain ledger-part ledger-${part}`}
            >
              <Share value={counts[part]} />
            </Tip>
          ))}
        </div>
        <ul class="ledger-legend">
          {[...PARTS, ...APART].map((part) => (
            <li key={part} class={counts[part] === 0 ? "is-zero" : ""}>
              <Tip says={COUNT_WORDS[part]}>
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

/** Its share is its own width: what grows by it pushes the others. */
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
