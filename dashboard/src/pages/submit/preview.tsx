/**
 * What the rules make of one page. The page is fetched once, through a worker and at the pace of its site; from then on
 * every change is tried on what is kept of it, and the site hears nothing of that.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReadingOut } from "../../../../src/api/wire-types.ts";
import { ApiError, isApiError, type JobInput } from "../../../../src/client/client.ts";
import { useSettled } from "../../listing.ts";
import { fleet } from "../../live.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { type Draft, extractOf } from "./draft.ts";
import { problemsOf } from "./problems.ts";
import { Reading } from "./reading.tsx";

/** A page that is kept to be read again and again, and the job that it was fetched by. */
type Fetched = { pageId: number; jobId: string; status: number };

const PATIENCE_SECONDS = 25;
const SETTLED_MS = 250;

type PreviewProps = { draft: Draft; job: JobInput; onError: (error: unknown) => void };

export function Preview({ draft, job, onError }: PreviewProps) {
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [fetched, setFetched] = useState<Fetched | undefined>(undefined);
  const url = typed ?? job.urls?.[0] ?? "";
  const fetching = useAction(async () => {
    setFetched(undefined);
    setFetched(await fetchOnce(url, job));
  });
  useForgotten(fetched);
  const reading = useReading(fetched, draft, onError);
  const hasNobody = fleet.value?.workers === 0;
  return (
    <Card title="Preview" class="preview">
      <div class="card-body preview-body">
        <form
          class="preview-form"
          onSubmit={(event) => {
            event.preventDefault();
            void fetching.run();
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

/** Throws what is to be shown: no page without a word on why. */
async function fetchOnce(url: string, { render, browser, headers, politeness, queue }: JobInput): Promise<Fetched> {
  const how = said({ render, browser, headers, politeness, queue });
  const asked = { url: url.trim(), name: `Preview of ${url.trim()}`.slice(0, 200), keep: { bodies: true }, ...how };
  try {
    const scraped = await api().scrape({ ...asked, timeoutSeconds: PATIENCE_SECONDS });
    const { page, dead, outcome, id } = scraped;
    if (page?.kept.includes("body")) return { pageId: page.id, jobId: id, status: page.status };
    forget(id);
    if (page !== null) throw new Error("The page came, and its body is not kept: the server's TRAWL_BODIES is none.");
    if (dead !== null) throw new Error(`The page was given up on: ${dead.reason}${lastWords(dead.history)}`);
    throw new Error(outcome === "refused" ? "robots.txt of the site does not allow this page." : "No page came.");
  } catch (error) {
    throw isApiError(error, "SCRAPE_TIMEOUT") ? await explained(error) : error;
  }
}

function lastWords(history: readonly { detail: string | null }[]): string {
  const detail = history.at(-1)?.detail;
  return detail === undefined || detail === null ? "." : `: ${detail.slice(0, 300)}`;
}

/** Why it is not there, in the words of `trawl explain`. */
async function explained(error: ApiError): Promise<unknown> {
  const id = String(error.problem.id);
  const { reasons } = await api()
    .explain({ job: id })
    .finally(() => forget(id));
  const detail = `The page was not there within ${PATIENCE_SECONDS} s: ${reasons.join("; ")}.`;
  const fix = "Start a worker that serves its queue, or wait until the site may be asked again; then fetch again.";
  return new ApiError(error.status, { ...error.problem, detail, fix });
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
function useForgotten(fetched: Fetched | undefined): void {
  useEffect(() => {
    if (fetched === undefined) return;
    const leave = () => forget(fetched.jobId);
    const hide = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) leave();
    };
    window.addEventListener("pagehide", hide);
    return () => {
      window.removeEventListener("pagehide", hide);
      leave();
    };
  }, [fetched?.jobId]);
}

/** If it cannot be deleted now, it is a small job that anybody may delete. */
function forget(jobId: string): void {
  void api()
    .job(jobId)
    .delete({ cancel: true })
    .catch(() => {});
}

function said<T extends object>(words: T): Partial<T> {
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined)) as Partial<T>;
}
