/** One page: what is known of it, what was kept of it, what came of it. All of it is somebody else's. */
import { useState } from "preact/hooks";
import type { OnePageOut, PageOut } from "../../../../src/api/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { bytes, count, cut, duration, plural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { Choice } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { Body, SavePdf, Screenshot } from "./page-parts.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { Values } from "./values.tsx";

type Part = "records" | "headers" | "body" | "screenshot";

export function PageDialog({ id, onClose }: { id: number; onClose: () => void }) {
  const { value, error, isLoading, reload } = usePolled((signal) => api().page(id).look({ signal }), 0, [id]);
  return (
    <Dialog title="Page" isWide onClose={onClose}>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value !== undefined && <KnownPage known={value} />}
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function KnownPage({ known }: { known: OnePageOut }) {
  const { page, records, jobId } = known;
  const [part, setPart] = useState<Part>("records");
  const has = (name: PageOut["kept"][number]) => page.kept.includes(name);
  const options: { value: Part; label: string }[] = [
    { value: "records", label: `Records ${count(page.records)}` },
    { value: "headers", label: "Headers" },
    ...(has("body") ? [{ value: "body" as const, label: "Body" }] : []),
    ...(has("screenshot") ? [{ value: "screenshot" as const, label: "Screenshot" }] : []),
  ];
  return (
    <>
      <dl class="facts">
        <dt>URL</dt>
        <dd>
          <ScrapedLink url={page.url} most={2_000} />
        </dd>
        <dt>Answer</dt>
        <dd>
          <StatusBadge status={page.status} /> {bytes(page.bodyBytes)} in {duration(page.tookMs)},{" "}
          <Ago at={page.fetchedAt} />
          {page.unchanged && ", unchanged since the last crawl"}
        </dd>
        <dt>Type</dt>
        <dd>{cut(page.contentType ?? "none given", 200)}</dd>
        <dt>How it went</dt>
        <dd>
          <a href={hrefOf(["jobs", jobId], { tab: "timeline", of: page.taskId })}>Timeline of this request</a>
        </dd>
        {has("pdf") && (
          <>
            <dt>In print</dt>
            <dd>
              <SavePdf page={page} />
            </dd>
          </>
        )}
      </dl>
      <Choice label="Part of the page" options={options} value={part} onChange={setPart} />
      {part === "records" && <Records page={page} records={records} />}
      {part === "headers" && <Values fields={page.headers} />}
      {part === "body" && <Body page={page} />}
      {part === "screenshot" && <Screenshot page={page} />}
    </>
  );
}

function Records({ page, records }: { page: PageOut; records: OnePageOut["records"] }) {
  if (records.length === 0) {
    return (
      <Empty title="No record came of it.">
        {page.invalid > 0 && (
          <p>
            {plural(page.invalid, "record was", "records were")} invalid: see Invalid for what{" "}
            {page.invalid === 1 ? "it lacks" : "they lack"}.
          </p>
        )}
        {!page.kept.includes("body") && <p>With keep.bodies, a job keeps bodies: then it can be seen why.</p>}
      </Empty>
    );
  }
  return (
    <>
      {records.map((fields, nth) => (
        <Values key={nth} fields={withoutOurs(fields)} />
      ))}
      {page.records > records.length && (
        <p class="quiet">
          The first {count(records.length)} of {count(page.records)}.
        </p>
      )}
    </>
  );
}

/** What every record says of its page stands above. */
function withoutOurs(fields: OnePageOut["records"][number]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith("_")));
}
