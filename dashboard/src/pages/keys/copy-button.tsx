import { useState } from "preact/hooks";

/** Pages that did not come over TLS may not reach the clipboard: then the text is there to be marked by hand. */
export function CopyButton({ text }: { text: string }) {
  const [said, setSaid] = useState("Copy");
  if (navigator.clipboard === undefined) return null;
  return (
    <button
      type="button"
      onClick={() =>
        navigator.clipboard.writeText(text).then(
          () => setSaid("Copied"),
          () => setSaid("The browser did not let it be copied"),
        )
      }
    >
      {said}
    </button>
  );
}
