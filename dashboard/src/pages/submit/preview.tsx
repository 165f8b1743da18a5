/**
 * What the rules make of one page. The page is fetched once, through a worker and at the pace of its site; from then on
 * every change is tried on what is kept of it, and the site hears nothing of that.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReadingOut } from "../../../../src/api/wire-types.ts";
import type { JobInput } from "../../../../src/client/client.ts";
import { useSettled } from "../../listing.ts";
import { fleet } from "../../live.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { problemsOf } from "../../ui/problems.ts";
import { type Draft, extractOf } from "./draft.ts";
import { type Fetched, fetchPage, forgetPage } from "./fetch-page.ts";
import { Reading } from "./reading.tsx";

const SETTLED_MS = 250;

type PreviewProps = { draft: Draft; job: JobInput; onError: (error: unknown) => void };

export function Preview({ draft, job, onError }: PreviewProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [fetched, setFetched] = useState<Fetched | undefined>(undefined);
  const url = typed ?? job.urls?.[0] ?? "";
  const { fetching, cancel } = useFetching(setFetched);
  const reading = useReading(fetched, draft, onError);
  const hasNobody = fleet.value?.workers === 0;
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
            label="Try it on"
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
        {hasNobody && (
          <p class="preview-nobody">
            No worker is there to fetch it. Start one, here or on another machine: <code>trawl worker</code>
          </p>
        )}
        <Problem error={problemsOf(fetching.error).at("url") === undefined ? fetching.error : undefined} />
        {fetched === undefined && !fetching.isBusy && fetching.error === undefined && (
          <Empty title="See what the rules extract before anything is queued.">
            <p>The page is fetched once. Then the result follows what you type, without another request to the site.</p>
          </Empty>
        )}
        {fetched !== undefined && <Reading status={fetched.status} {...reading} />}
      </div>
    </Card>
  );
}

/** One at a time, which may be cancelled. Its job stays as long as its page is needed. */
function useFetching(onFetched: (fetched: Fetched | undefined) => void) {
  const [jobId, setJobId] = useState<string | undefined>(undefined);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  useForgotten(jobId);
  const fetching = useAction(async (url: string, job: JobInput) => {
    leaving.current = new AbortController();
    const { signal } = leaving.current;
    onFetched(undefined);
    setJobId(undefined);
    try {
      onFetched(await fetchPage(url, job, { signal, onJob: setJobId }));
    } catch (error) {
      setJobId(undefined);
      if (!signal.aborted) throw error;
    }
  });
  return { fetching, cancel: () => leaving.current.abort() };
}

type Read = { value: ReadingOut | undefined; error: unknown; isBusy: boolean };

/** What the rules make of it, a moment after the last change. The last good reading stays while one is wrong. */
function useReading(fetched: Fetched | undefined, { rows, each, job }: Draft, onError: (error: unknown) => void): Read {
  const links = job.follow === undefined ? undefined : (job.follow.links ?? "a[href]");
  const asked = useSettled(JSON.stringify({ extract: extractOf({ rows, each }), links }), SETTLED_MS);
  const [read, setRead] = useState<Read>({ value: undefined, error: undefined, isBusy: false });
  const newest = useRef(onError);
  newest.current = onError;
  useEffect(() => {
    if (fetched === undefined) return;
    const leaving = new AbortController();
    const tell = (error: unknown, value?: ReadingOut) => {
      if (leaving.signal.aborted) return;
      newest.current(error);
      setRead((before) => ({ value: value ?? before.value, error, isBusy: false }));
    };
    setRead((before) => ({ ...before, isBusy: true }));
    api()
      .page(fetched.pageId)
      .extract(JSON.parse(asked), { signal: leaving.signal })
      .then((value) => tell(undefined, value), tell);
    return () => leaving.abort();
  }, [fetched?.pageId, asked]);
  return read;
}

/** What was fetched to try rules on is nobody's result: it goes when another comes, or when the form or the tab is left. */
function useForgotten(jobId: string | undefined): void {
  useEffect(() => {
    if (jobId === undefined) return;
    const leave = () => forgetPage(jobId);
    const hide = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) leave();
    };
    window.addEventListener("pagehide", hide);
    return () => {
      window.removeEventListener("pagehide", hide);
      leave();
    };
  }, [jobId]);
}
