/** One site: its limits, current status, jobs, robots.txt and dead letters. */
import { useEffect } from "preact/hooks";
import { isApiError } from "../../../../src/client/api-error.ts";
import type { SiteDetailOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { setTabTitle } from "../../tab-title.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { Reasons } from "../explain/reasons.tsx";
import { RateOverrideForm } from "./rate-override.tsx";
import { RobotsCard } from "./robots.tsx";
import { SiteDeadLetters } from "./site-dead-letters.tsx";
import { SiteJobs } from "./site-jobs.tsx";
import { SiteStats } from "./site-stats.tsx";
import "../explain/explain.css";
import "./site.css";

const POLL_MS = 2_000;

export function Site({ rest }: { rest: readonly string[] }) {
  const name = rest[0] ?? "";
  const { value: site, error, reload } = usePolled((signal) => api().sites.get(name, { signal }), POLL_MS, [name]);
  const title = <Scraped text={shownName(name)} max={300} />;
  useEffect(() => setTabTitle(shownName(name)), [name]);
  if (site === undefined)
    return (
      <Page title={title}>{error === undefined ? <Loading /> : <LoadError error={error} onRetry={reload} />}</Page>
    );
  const isOnline = !name.startsWith("#");
  return (
    <Page
      title={title}
      subtitle={
        isOnline ? (
          <a href={hrefOf(["sites"])}>All sites</a>
        ) : (
          "Fetched pages of this site that wait to be parsed. Parsing sends no requests, so it has no rate limit."
        )
      }
    >
      <Problem error={error} />
      <SiteStats site={site} />
      <div class="cards">
        <CurrentStatus site={site} />
        {isOnline && <RateOverrideForm key={name} site={site} onChanged={reload} />}
      </div>
      <SiteJobs site={site} />
      {isOnline && (
        <div class="cards">
          <RobotsCard robots={site.robots} />
          <SiteDeadLetters site={name} />
        </div>
      )}
    </Page>
  );
}

function shownName(name: string): string {
  return name.startsWith("#") ? `${name.slice(1)} (parsing)` : name;
}

function LoadError({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!isApiError(error, "NOT_FOUND")) return <Problem error={error} onRetry={onRetry} />;
  return (
    <Empty title="No job has URLs at this site.">
      <p>
        <a href={hrefOf(["sites"], { sort: "name" })}>Show all sites</a>
      </p>
    </Empty>
  );
}

/** The same text as in `trawl explain`. */
function CurrentStatus({ site }: { site: SiteDetailOut }) {
  const { value, error } = usePolled((signal) => api().explain({ site: site.site }, { signal }), POLL_MS, [site.site]);
  if (value !== undefined) return <Reasons explained={value} />;
  return <Card title="Current status">{error === undefined ? <Loading /> : <Problem error={error} />}</Card>;
}
