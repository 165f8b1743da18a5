/** One fetched page: response, records, and stored body or screenshot. All of it is untrusted content. */
import { useState } from "preact/hooks";
import type { OnePageOut, PageOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { bytes, count, cut, duration, plural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { Choice } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { FieldValues } from "./field-values.tsx";
import { Body, SavePdf, Screenshot } from "./page-parts.tsx";

type Part = "records" | "headers" | "body" | "screenshot";

export function PageDialog({ id, onClose }: { id: number; onClose: () => void }) {
  const { value, error, isLoading, reload } = usePolled((signal) => api().page(id).get({ signal }), 0, [id]);
  return (
    <Dialog title="Page" isWide onClose={onClose}>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value !== undefined && <LoadedPage loaded={value} />}
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function LoadedPage({ loaded }: { loaded: OnePageOut }) {
  const { page, records, jobId } = loaded;
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
          <ScrapedLink url={page.url} max={2_000} />
        </dd>
        <dt>Response</dt>
        <dd>
          <StatusBadge status={page.status} /> {bytes(page.bodyBytes)} in {duration(page.tookMs)},{" "}
          <Ago at={page.fetchedAt} />
          {page.unchanged && ", unchanged since the last crawl"}
        </dd>
        <dt>Type</dt>
        <dd>{cut(page.contentType ?? "none", 200)}</dd>
        <dt>History</dt>
        <dd>
          <a href={hrefOf(["jobs", jobId], { tab: "timeline", of: page.taskId })}>Timeline of this request</a>
        </dd>
        {has("pdf") && (
          <>
            <dt>PDF</dt>
            <dd>
              <SavePdf page={page} />
            </dd>
          </>
        )}
      </dl>
      <Choice label="Part of the page" options={options} value={part} onChange={setPart} />
      {part === "records" && <Records page={page} records={records} />}
      {part === "headers" && <FieldValues fields={page.headers} />}
      {part === "body" && <Body page={page} />}
      {part === "screenshot" && <Screenshot page={page} />}
    </>
  );
}

function Records({ page, records }: { page: PageOut; records: OnePageOut["records"] }) {
  if (records.length === 0) {
    return (
      <Empty title="No records were extracted from this page.">
        {page.invalid > 0 && (
          <p>{plural(page.invalid, "record was", "records were")} invalid. The Invalid tab of the job shows why.</p>
        )}
        {!page.kept.includes("body") && <p>To see the source of pages, set keep.bodies in the job.</p>}
      </Empty>
    );
  }
  return (
    <>
      {records.map((fields, nth) => (
        <FieldValues key={nth} fields={ownFields(fields)} />
      ))}
      {page.records > records.length && (
        <p class="muted">
          Showing the first {count(records.length)} of {plural(page.records, "record")}.
        </p>
      )}
    </>
  );
}

/** Removes the fields that Trawl adds: the dialog shows them above. */
function ownFields(fields: OnePageOut["records"][number]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith("_")));
}
