/** What is searched for, kept in the address so that it can be linked to. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useSettled } from "../listing.ts";
import { place, setQuery } from "../router.ts";
import { TextField } from "./field.tsx";

/** `by`: its name in the query. */
export function SearchField({ label, placeholder, by = "q" }: { label: string; placeholder: string; by?: string }) {
  const inAddress = place.value.query[by] ?? "";
  const [typed, setTyped] = useState(inAddress);
  const settled = useSettled(typed);
  const written = useRef(inAddress);
  useEffect(() => {
    if (settled !== typed) return;
    written.current = settled.trim();
    setQuery({ [by]: written.current });
  }, [settled]);
  // What somebody else has put there: a link, or a button that clears it.
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    setTyped(inAddress);
  }, [inAddress]);
  return (
    <TextField label={label} isLabelHidden type="search" placeholder={placeholder} value={typed} onInput={setTyped} />
  );
}
