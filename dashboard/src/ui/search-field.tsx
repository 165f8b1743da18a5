/** What is searched for, kept in the address so that it can be linked to. */
import { useEffect, useState } from "preact/hooks";
import { useSettled } from "../listing.ts";
import { place, setQuery } from "../router.ts";
import { TextField } from "./field.tsx";

/** `by`: its name in the query. */
export function SearchField({ label, placeholder, by = "q" }: { label: string; placeholder: string; by?: string }) {
  const inAddress = place.value.query[by] ?? "";
  const [typed, setTyped] = useState(inAddress);
  const settled = useSettled(typed);
  useEffect(() => {
    if (settled === typed) setQuery({ [by]: settled.trim() === "" ? undefined : settled.trim() });
  }, [settled]);
  return (
    <TextField label={label} isLabelHidden type="search" placeholder={placeholder} value={typed} onInput={setTyped} />
  );
}
