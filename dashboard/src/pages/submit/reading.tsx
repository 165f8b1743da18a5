import type { ReadingOut } from "../../../../src/api/wire-types.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count, duration, plural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { problemsOf } from "../../ui/problems.ts";
import { Scraped } from "../../ui/scraped.tsx";
import { StatusBadge } from "../job/status-badge.tsx";
import { Values } from "../job/values.tsx";

type ReadingProps = { status: number; value: ReadingOut | undefined; error: unknown; isBusy: boolean };

const SHOWN = 10;
const LINKS_SHOWN = 20;

/** What the rules made of the page. */
export function Reading({ status, value, error, isBusy }: ReadingProps) {
  const problems = problemsOf(error);
  // A selector that is wrong says so beside its field.
  const isBesideField = ["extract", "follow", "links"].some((path) => problems.at(path) !== undefined);
  return (
    <div class="reading" aria-live="polite" aria-busy={isBusy}>
      {value === undefined && error === undefined && <Loading what="Reading" />}
      {isBesideField ? (
        <p class="field-problem">
          A rule is wrong: see beside it.{value !== undefined && " This is what came before."}
        </p>
      ) : (
        <Problem error={error} />
      )}
      {value !== undefined && (
        <>
          <p class="reading-sum">
            <StatusBadge status={status} />
            <span>{plural(value.recordCount, "record")}</span>
            {value.invalidCount > 0 && <span class="is-bad">{count(value.invalidCount)} invalid</span>}
            <span>{plural(value.linkCount, "link")}</span>
            <span class="quiet">read in {duration(value.tookMs)}</span>
          </p>
          <Records value={value} />
          <Links value={value} />
        </>
      )}
    </div>
  );
}

function Records({ value }: { value: ReadingOut }) {
  const { records, invalid, recordCount } = value;
  if (records.length === 0 && invalid.length === 0) {
    return (
      <Empty title="The rules find nothing on this page.">
        <p>It may need a browser (scripts), or another selector.</p>
      </Empty>
    );
  }
  return (
    <>
      {records.slice(0, SHOWN).map((fields, nth) => (
        <div key={nth} class="reading-record">
          <Values fields={fields} />
        </div>
      ))}
      {invalid.slice(0, SHOWN).map(({ fields, reason }, nth) => (
        <div key={nth} class="reading-record">
          <p class="field-problem">
            <bdi>{reason.slice(0, 500)}</bdi>
          </p>
          <Values fields={fields} />
        </div>
      ))}
      {recordCount > SHOWN && (
        <p class="quiet">
          The first {SHOWN} of {count(recordCount)}.
        </p>
      )}
    </>
  );
}

function Links({ value: { links, linkCount } }: { value: ReadingOut }) {
  if (links.length === 0) return null;
  return (
    <details>
      <summary>{plural(linkCount, "link")} would be looked at</summary>
      <ul class="reading-links">
        {links.slice(0, LINKS_SHOWN).map((link) => (
          <li key={link}>
            <Scraped text={link} />
          </li>
        ))}
      </ul>
      {linkCount > LINKS_SHOWN && <p class="quiet">The first {LINKS_SHOWN}.</p>}
    </details>
  );
}
