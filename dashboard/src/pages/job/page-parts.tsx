/** What was kept of a page: its source as text, never as a page; its picture from bytes, never by its address. */
import { useEffect, useState } from "preact/hooks";
import type { PageOut } from "../../../../src/api/wire-types.ts";
import { useAction, usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { bytes } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { saveBlob } from "../../ui/save.ts";

/** More of a body is for a download. */
const SHOWN_BYTES = 200_000;

export function Body({ page }: { page: PageOut }) {
  const { value, error, isLoading, reload } = usePolled(
    async (signal) => (await api().page(page.id).part("body", { signal })).blob(),
    0,
    [page.id],
  );
  const text = useText(value, page.contentType);
  return (
    <>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {text !== undefined && (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys */}
          <pre class="source" tabIndex={0}>
            {text}
          </pre>
          <p class="listing-foot">
            {value !== undefined && value.size > SHOWN_BYTES && <span>The first {bytes(SHOWN_BYTES)} of it.</span>}
            <button
              type="button"
              class="small"
              onClick={() => value !== undefined && saveBlob(value, `page-${page.id}.txt`)}
            >
              Download, {bytes(value?.size)}
            </button>
          </p>
        </>
      )}
    </>
  );
}

export function Screenshot({ page }: { page: PageOut }) {
  const { value, error, isLoading, reload } = usePolled(
    async (signal) => (await api().page(page.id).part("screenshot", { signal })).blob(),
    0,
    [page.id],
  );
  const [url, setUrl] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (value === undefined) return;
    const made = URL.createObjectURL(value);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [value]);
  return (
    <>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {url !== undefined && <img class="screenshot" src={url} alt="What the page looked like in the browser" />}
    </>
  );
}

/** The page as it would be printed: for a program that shows such files, and not for this one. */
export function SavePdf({ page }: { page: PageOut }) {
  const saving = useAction(async () => {
    const answer = await api().page(page.id).part("pdf");
    saveBlob(await answer.blob(), `page-${page.id}.pdf`);
  });
  return (
    <>
      <button type="button" class="small" disabled={saving.isBusy} onClick={() => saving.run()}>
        Download as PDF
      </button>
      <Problem error={saving.error} />
    </>
  );
}

/** In the charset that its type names, if this browser knows it. */
function useText(blob: Blob | undefined, contentType: string | null): string | undefined {
  const [text, setText] = useState<string | undefined>(undefined);
  useEffect(() => {
    let isGone = false;
    const charset = /charset="?([\w.:-]+)/i.exec(contentType ?? "")?.[1] ?? "utf-8";
    void blob
      ?.slice(0, SHOWN_BYTES)
      .arrayBuffer()
      .then((buffer) => {
        if (!isGone) setText(decoderFor(charset).decode(buffer));
      });
    return () => {
      isGone = true;
    };
  }, [blob, contentType]);
  return text;
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // a page may name anything
  }
}
