/**
 * Shows the records and links that the rules extract from one page. A worker fetches the page once, at the rate of the
 * site. After that, every change of the rules is applied to the stored page without another request to the site.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import type { ExtractionPreviewOut } from "../../../../src/client/wire-types.ts";
import { fleet } from "../../live.ts";
import { useDebounced } from "../../paged-rows.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { problemsOf } from "../../ui/field-problems.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { deletePreviewJob, type FetchedPage, fetchPage } from "./fetch-page.ts";
import { extractOf, type JobDraft } from "./job-draft.ts";
import { type Extraction, PreviewResult } from "./preview-result.tsx";
import { firstUrl } from "./url-lines.ts";

const DEBOUNCE_MS = 250;

type PreviewProps = { draft: JobDraft; job: JobInput; onError: (error: unknown) => void };

export function Preview({ draft, job, onError }: PreviewProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [fetched, setFetched] = useState<FetchedPage | undefined>(undefined);
  const url = typed ?? firstUrl(job.urls ?? []) ?? "";
  const { fetching, cancel } = useFetching(setFetched);
  const extraction = useExtraction(fetched, draft, onError);
  const hasNoWorkers = fleet.value?.workers === 0;
  return (
    <Card title="Preview" class="preview">
      <div class="card-body preview-body">
        <form
          class="preview-form"
          onSubmit={(event) => {
            event.preventDefault();
            void fetching.run(url, job);
          }}
        >
          <TextField
            label="Page URL"
            placeholder="https://shop.example/1"
            value={url}
            onInput={setTyped}
            problem={problemsOf(fetching.error).at("url")}
          />
          <button type="submit" disabled={fetching.isBusy || url === ""}>
            {fetching.isBusy ? "Fetching …" : fetched === undefined ? "Fetch page" : "Fetch again"}
          </button>
          {fetching.isBusy && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
        </form>
        {hasNoWorkers && (
          <p class="preview-warning">
            No worker is connected, so the page cannot be fetched. Start one: <code>trawl worker</code>
          </p>
        )}
        <Problem error={problemsOf(fetching.error).at("url") === undefined ? fetching.error : undefined} />
        {fetched === undefined && !fetching.isBusy && fetching.error === undefined && (
          <Empty title="Fetch a page to see what your rules extract.">
            <p>The page is fetched once. The result then updates as you type, without more requests to the site.</p>
          </Empty>
        )}
        {fetched !== undefined && <PreviewResult status={fetched.status} {...extraction} />}
      </div>
    </Card>
  );
}

/** Fetches one page at a time; the user can cancel. The preview job exists as long as its page is shown. */
function useFetching(onFetched: (fetched: FetchedPage | undefined) => void) {
  const [jobId, setJobId] = useState<string | undefined>(undefined);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  useCleanup(jobId);
  const fetching = useAction(async (url: string, job: JobInput) => {
    abort.current = new AbortController();
    const { signal } = abort.current;
    onFetched(undefined);
    setJobId(undefined);
    try {
      onFetched(await fetchPage(url, job, { signal, onJob: setJobId }));
    } catch (error) {
      setJobId(undefined);
      if (!signal.aborted) throw error;
    }
  });
  return { fetching, cancel: () => abort.current.abort() };
}

/** Applies the rules to the page, debounced. While a rule is invalid, the last valid result stays. */
function useExtraction(
  fetched: FetchedPage | undefined,
  { rows, each, job }: JobDraft,
  onError: (error: unknown) => void,
): Extraction {
  const links = job.follow === undefined ? undefined : (job.follow.links ?? "a[href]");
  const rules = useDebounced(JSON.stringify({ extract: extractOf({ rows, each }), links }), DEBOUNCE_MS);
  const [extraction, setExtraction] = useState<Extraction>({ value: undefined, error: undefined, isBusy: false });
  const newest = useRef(onError);
  newest.current = onError;
  useEffect(() => {
    if (fetched === undefined) return;
    const abort = new AbortController();
    const finish = (error: unknown, value?: ExtractionPreviewOut) => {
      if (abort.signal.aborted) return;
      newest.current(error);
      setExtraction((before) => ({ value: value ?? before.value, error, isBusy: false }));
    };
    setExtraction((before) => ({ ...before, isBusy: true }));
    api()
      .page(fetched.pageId)
      .extract(JSON.parse(rules), { signal: abort.signal })
      .then((value) => finish(undefined, value), finish);
    return () => abort.abort();
  }, [fetched?.pageId, rules]);
  return extraction;
}

/** Deletes the preview job when another page is fetched, or when the user leaves the form or closes the tab. */
function useCleanup(jobId: string | undefined): void {
  useEffect(() => {
    if (jobId === undefined) return;
    const remove = () => deletePreviewJob(jobId);
    const onPageHide = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) remove();
    };
    window.addEventListener("pagehide", onPageHide);
    return () => {
      window.removeEventListener("pagehide", onPageHide);
      remove();
    };
  }, [jobId]);
}
