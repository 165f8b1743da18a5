import { useEffect, useState } from "preact/hooks";
import type { DeadFilter } from "../../../../src/client/client.ts";
import { setQuery } from "../../router.ts";
import { DEAD_REASONS } from "../../ui/dead-reasons.ts";
import { SelectField, TextField } from "../../ui/field.tsx";

const REASONS = [
  { value: "", label: "any" },
  ...Object.keys(DEAD_REASONS).map((reason) => ({ value: reason, label: reason })),
];

/** The filter of the list. The replay and discard buttons apply to the dead letters that match it. */
export function Filters({ filter }: { filter: DeadFilter }) {
  const { job = "", reason = "", site = "", status } = filter;
  const isAny = Object.keys(filter).length > 0;
  return (
    <search class="filters">
      <SelectField label="Reason" value={reason} options={REASONS} onChange={(value) => setQuery({ reason: value })} />
      <DebouncedField
        label="Site"
        value={site}
        placeholder="shop.example"
        onChange={(value) => setQuery({ site: value })}
      />
      <DebouncedField
        label="Status"
        value={status === undefined ? "" : String(status)}
        placeholder="404"
        onChange={(value) => setQuery({ status: value })}
      />
      <DebouncedField label="Job" value={job} placeholder="job id" onChange={(value) => setQuery({ job: value })} />
      <button
        type="button"
        disabled={!isAny}
        onClick={() => setQuery({ job: undefined, reason: undefined, site: undefined, status: undefined })}
      >
        Clear
      </button>
    </search>
  );
}

type DebouncedFieldProps = { label: string; value: string; placeholder: string; onChange: (value: string) => void };

const DEBOUNCE_MS = 400;

/** Calls `onChange` when the user stops typing. */
function DebouncedField({ label, value, placeholder, onChange }: DebouncedFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <TextField label={label} value={text} placeholder={placeholder} onInput={setText} />;
}
