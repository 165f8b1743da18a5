import { useState } from "preact/hooks";

/** Hidden without TLS: browsers then have no clipboard API, and the user copies the text by hand. */
export function CopyButton({ text }: { text: string }) {
  const [label, setLabel] = useState("Copy");
  if (navigator.clipboard === undefined) return null;
  return (
    <button
      type="button"
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => setLabel("Copied"),
          () => setLabel("The browser blocked copying"),
        )
      }
    >
      {label}
    </button>
  );
}
