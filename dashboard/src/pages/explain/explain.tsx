/** Explains a URL, site, job, task or request: why it waits, and its timeline. */
import { useEffect, useState } from "preact/hooks";
import { usePolled } from "../../polled.ts";
import { route, setQuery } from "../../router.ts";
import { may } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { explainQuery } from "./explain-query.ts";
import { Reasons } from "./reasons.tsx";
import { RefreshRow } from "./refresh-row.tsx";
import { TracedJob } from "./traced-job.tsx";
import { TracedPage } from "./traced-page.tsx";
import "./explain.css";

/** Broker and store may search millions of entries, so there is no polling; the user refreshes. */
const ONCE = 0;

export function Explain() {
  const query = (route.value.query.q ?? "").trim();
  const [typed, setTyped] = useState(query);
  useEffect(() => setTyped(query), [query]);
  const sites = may("admin") ? ", site" : "";
  return (
    <Page title="Explain" subtitle="Why a URL, site or job waits, and what has happened so far.">
      <form
        class="explain-form"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ q: typed.trim() });
        }}
      >
        <TextField
          label={`URL${sites}, or the id of a job, task or request`}
          type="search"
          value={typed}
          onInput={setTyped}
          placeholder="https://shop.example/17"
        />
        <button type="submit" class="primary" disabled={typed.trim() === ""}>
          Explain
        </button>
      </form>
      {query === "" ? <Help /> : <Answer query={query} />}
    </Page>
  );
}

function Help() {
  return (
    <Empty title="Enter a URL or an id.">
      <p>
        For a URL, this page shows why it waits and all its attempts. For a job, it shows what the job is waiting for.
        For a request id, it shows all jobs and URLs that the request created.
      </p>
    </Empty>
  );
}

function Answer({ query }: { query: string }) {
  const { value, error, reload } = usePolled((signal) => explainQuery(query, signal), ONCE, [query]);
  if (value === undefined) {
    return error === undefined ? <Loading /> : <Problem error={error} onRetry={reload} />;
  }
  const { explained, trace } = value;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {explained !== undefined && <Reasons explained={explained} />}
      {trace?.timelines.map((timeline) => (
        <TracedPage key={`${timeline.job} ${timeline.url}`} timeline={timeline} />
      ))}
      {trace?.jobs.map((traced) => (
        <TracedJob key={traced.job.id} traced={traced} />
      ))}
      <RefreshRow hidden={trace?.more ?? 0} onRefresh={reload} />
    </>
  );
}
