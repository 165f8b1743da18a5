/** Stored parts of a page. The body is shown as text and never rendered; images are loaded from bytes, never by URL. */
import { useEffect, useState } from "preact/hooks";
import type { PageOut } from "../../../../src/client/wire-types.ts";
import { useAction, usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { bytes } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { saveBlob } from "../../ui/save.ts";

/** The rest of a larger body is only in the download. */
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
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
          <pre class="source" tabIndex={0}>
            {text}
          </pre>
          <p class="rows-footer">
            {value !== undefined && value.size > SHOWN_BYTES && <span>Showing the first {bytes(SHOWN_BYTES)}.</span>}
            <button
              type="button"
              class="small"
              onClick={() => value !== undefined && saveBlob(value, `page-${page.id}.txt`)}
            >
              Download ({bytes(value?.size)})
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
    const created = URL.createObjectURL(value);
    setUrl(created);
    return () => URL.revokeObjectURL(created);
  }, [value]);
  return (
    <>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {url !== undefined && <img class="screenshot" src={url} alt="Screenshot of the page" />}
    </>
  );
}

/** PDFs are downloaded and not displayed. */
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

/** Decodes with the charset of the content type, or UTF-8 if the browser does not support it. */
function useText(blob: Blob | undefined, contentType: string | null): string | undefined {
  const [text, setText] = useState<string | undefined>(undefined);
  useEffect(() => {
    let isUnmounted = false;
    const charset = /charset="?([\w.:-]+)/i.exec(contentType ?? "")?.[1] ?? "utf-8";
    void blob
      ?.slice(0, SHOWN_BYTES)
      .arrayBuffer()
      .then((buffer) => {
        if (!isUnmounted) setText(decoderFor(charset).decode(buffer));
      });
    return () => {
      isUnmounted = true;
    };
  }, [blob, contentType]);
  return text;
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder(); // pages may declare any charset
  }
}
