/** One site: what it gets and by whose word, why it waits, who waits for it; and the operator's word on it. */
import { useEffect } from "preact/hooks";
import type { SiteDetailOut } from "../../../../src/api/wire-sites.ts";
import { isApiError } from "../../../../src/client/api-error.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { titleTab } from "../../tab-title.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { Reasons } from "../explain/reasons.tsx";
import { AllowanceForm } from "./allowance.tsx";
import { GivenUpHere } from "./given-up.tsx";
import { RobotsCard } from "./robots.tsx";
import { SiteJobs } from "./site-jobs.tsx";
import { SiteStats } from "./site-stats.tsx";
import "../explain/explain.css";
import "./site.css";

const LOOK_MS = 2_000;

export function Site({ rest }: { rest: readonly string[] }) {
  const name = rest[0] ?? "";
  const { value: site, error, reload } = usePolled((signal) => api().sites.get(name, { signal }), LOOK_MS, [name]);
  const title = <Scraped text={shownName(name)} most={300} />;
  useEffect(() => titleTab(shownName(name)), [name]);
  if (site === undefined)
    return <Page title={title}>{error === undefined ? <Loading /> : <Unmet error={error} onRetry={reload} />}</Page>;
  const isOnline = !name.startsWith("#");
  return (
    <Page
      title={title}
      says={
        isOnline ? (
          <a href={hrefOf(["sites"])}>All sites</a>
        ) : (
          "Where pages of this site wait to be parsed: nothing is asked of the site itself, so nothing limits it."
        )
      }
    >
      <Problem error={error} />
      <SiteStats site={site} />
      <div class="cards">
        <Why site={site} />
        {isOnline && <AllowanceForm key={name} site={site} onChanged={reload} />}
      </div>
      <SiteJobs site={site} />
      {isOnline && (
        <div class="cards">
          <RobotsCard robots={site.robots} />
          <GivenUpHere site={name} />
        </div>
      )}
    </Page>
  );
}

function shownName(name: string): string {
  return name.startsWith("#") ? `${name.slice(1)}, parsing` : name;
}

function Unmet({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (!isApiError(error, "NOT_FOUND")) return <Problem error={error} onRetry={onRetry} />;
  return (
    <Empty title="No job here has met this site.">
      <p>
        <a href={hrefOf(["sites"], { sort: "name" })}>Look at all sites</a>, by name.
      </p>
    </Empty>
  );
}

/** In the words that `trawl explain` has for it. */
function Why({ site }: { site: SiteDetailOut }) {
  const { value, error } = usePolled((signal) => api().explain({ site: site.site }, { signal }), LOOK_MS, [site.site]);
  if (value !== undefined) return <Reasons explained={value} />;
  return <Card title="Why it waits">{error === undefined ? <Loading /> : <Problem error={error} />}</Card>;
}
