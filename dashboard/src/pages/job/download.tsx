/** Downloads the records as a file. */
import { useState } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { SelectField } from "../../ui/field.tsx";
import { bytes } from "../../ui/format.ts";
import { errorText } from "../../ui/problem.tsx";
import { saveStream, toJsonArray } from "../../ui/save.ts";

const FORMATS = [
  { value: "jsonl", label: "JSON Lines" },
  { value: "csv", label: "CSV" },
  { value: "json", label: "JSON" },
  { value: "parquet", label: "Parquet" },
] as const;
type Format = (typeof FORMATS)[number]["value"];

/** From this many records on, the file is streamed to disk if the browser supports it. */
const LARGE_RECORDS = 50_000;

export function Download({ job, q }: { job: JobOut; q: string | undefined }) {
  const [format, setFormat] = useState<Format>("jsonl");
  const [received, setReceived] = useState(0);
  const saving = useAction(async () => {
    setReceived(0);
    const wire = format === "jsonl" || format === "json" ? "ndjson" : format;
    const open = async () => {
      const lines = await api()
        .job(job.id)
        .download(wire, q === undefined ? {} : { q });
      return format === "json" ? lines.pipeThrough(toJsonArray()) : lines;
    };
    await saveStream(open, {
      name: `${job.id}.${format}`,
      isLarge: job.tally.records > LARGE_RECORDS,
      onBytes: setReceived,
    });
  });
  return (
    <span class="download">
      <SelectField
        label="Format"
        isLabelHidden
        value={format}
        onChange={(value) => setFormat(value as Format)}
        options={FORMATS}
      />
      <button type="button" disabled={saving.isBusy} onClick={() => saving.run()}>
        {saving.isBusy ? `${bytes(received)} …` : q === undefined ? "Download all" : "Download matches"}
      </button>
      {saving.error !== undefined && (
        <span class="field-problem" role="alert">
          {errorText(saving.error).what}
        </span>
      )}
    </span>
  );
}
