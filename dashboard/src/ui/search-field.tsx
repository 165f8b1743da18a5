/** A search field whose text is part of the address, so that a search can be linked to. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useDebounced } from "../paged-rows.ts";
import { route, setQuery } from "../router.ts";
import { TextField } from "./field.tsx";

/** `by` is the name of the query parameter. */
export function SearchField({ label, placeholder, by = "q" }: { label: string; placeholder: string; by?: string }) {
  const inAddress = route.value.query[by] ?? "";
  const [typed, setTyped] = useState(inAddress);
  const debounced = useDebounced(typed);
  const written = useRef(inAddress);
  useEffect(() => {
    if (debounced !== typed) return;
    written.current = debounced.trim();
    setQuery({ [by]: written.current });
  }, [debounced]);
  // A link, or a button that clears the search, has changed the address.
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    setTyped(inAddress);
  }, [inAddress]);
  return (
    <TextField label={label} isLabelHidden type="search" placeholder={placeholder} value={typed} onInput={setTyped} />
  );
}
