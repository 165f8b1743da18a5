import { useEffect, useState } from "preact/hooks";
import type { DeadFilter } from "../../../../src/client/client.ts";
import { setQuery } from "../../router.ts";
import { DEAD_REASONS } from "../../ui/dead-reasons.ts";
import { SelectField, TextField } from "../../ui/field.tsx";

const REASONS = [
  { value: "", label: "any" },
  ...Object.keys(DEAD_REASONS).map((reason) => ({ value: reason, label: reason })),
];

/** Which letters are shown, and meant by the buttons. */
export function Filters({ filter }: { filter: DeadFilter }) {
  const { job = "", reason = "", site = "", status } = filter;
  const isAny = Object.keys(filter).length > 0;
  return (
    <search class="filters">
      <SelectField label="Reason" value={reason} options={REASONS} onChange={(value) => setQuery({ reason: value })} />
      <Typed label="Site" value={site} placeholder="shop.example" onChange={(value) => setQuery({ site: value })} />
      <Typed
        label="Status"
        value={status === undefined ? "" : String(status)}
        placeholder="404"
        onChange={(value) => setQuery({ status: value })}
      />
      <Typed label="Job" value={job} placeholder="its id" onChange={(value) => setQuery({ job: value })} />
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

type TypedProps = { label: string; value: string; placeholder: string; onChange: (value: string) => void };

const SETTLE_MS = 400;

/** Takes effect when the typing has stopped for a moment. */
function Typed({ label, value, placeholder, onChange }: TypedProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return <TextField label={label} value={text} placeholder={placeholder} onInput={setText} />;
}
