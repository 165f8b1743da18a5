import type { ExtractionPreviewOut } from "../../../../src/client/wire-types.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { problemsOf } from "../../ui/field-problems.ts";
import { count, duration, plural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { FieldValues } from "../job/field-values.tsx";

export type Extraction = { value: ExtractionPreviewOut | undefined; error: unknown; isBusy: boolean };

const SHOWN = 10;
const LINKS_SHOWN = 20;

/** The records and links that the rules extract from the page. */
export function PreviewResult({ status, value, error, isBusy }: Extraction & { status: number }) {
  const problems = problemsOf(error);
  // The error of a selector is shown at its field.
  const isShownAtField = ["extract", "follow", "links"].some((path) => problems.at(path) !== undefined);
  return (
    <div class="preview-result" aria-live="polite" aria-busy={isBusy}>
      {value === undefined && error === undefined && <Loading text="Extracting" />}
      {isShownAtField ? (
        <p class="field-problem">
          A rule is invalid. Its field shows the error.{value !== undefined && " Below is the previous result."}
        </p>
      ) : (
        <Problem error={error} />
      )}
      {value !== undefined && (
        <>
          <p class="preview-summary">
            <StatusBadge status={status} />
            <span>{plural(value.recordCount, "record")}</span>
            {value.invalidCount > 0 && <span class="is-bad">{count(value.invalidCount)} invalid</span>}
            <span>{plural(value.linkCount, "link")}</span>
            <span class="muted">parsed in {duration(value.tookMs)}</span>
          </p>
          <Records value={value} />
          <Links value={value} />
        </>
      )}
    </div>
  );
}

function Records({ value }: { value: ExtractionPreviewOut }) {
  const { records, invalid, recordCount } = value;
  if (records.length === 0 && invalid.length === 0) {
    return (
      <Empty title="The rules match nothing on this page.">
        <p>Check the selectors. If the page needs scripts, render it in a browser.</p>
      </Empty>
    );
  }
  return (
    <>
      {records.slice(0, SHOWN).map((fields, nth) => (
        <div key={nth} class="preview-record">
          <FieldValues fields={fields} />
        </div>
      ))}
      {invalid.slice(0, SHOWN).map(({ fields, reason }, nth) => (
        <div key={nth} class="preview-record">
          <p class="field-problem">
            <bdi>{reason.slice(0, 500)}</bdi>
          </p>
          <FieldValues fields={fields} />
        </div>
      ))}
      {recordCount > SHOWN && (
        <p class="muted">
          Showing the first {SHOWN} of {plural(recordCount, "record")}.
        </p>
      )}
    </>
  );
}

function Links({ value: { links, linkCount } }: { value: ExtractionPreviewOut }) {
  if (links.length === 0) return null;
  return (
    <details>
      <summary>{plural(linkCount, "link")} to follow</summary>
      <ul class="preview-links">
        {links.slice(0, LINKS_SHOWN).map((link) => (
          <li key={link}>
            <Scraped text={link} />
          </li>
        ))}
      </ul>
      {linkCount > LINKS_SHOWN && <p class="muted">Showing the first {LINKS_SHOWN} links.</p>}
    </details>
  );
}
