/** The proxies of the fleet: success, response time, blocks and cost, by provider and site, or by proxy. */

import type { ProxiesOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf, route, setQuery } from "../../router.ts";
import { api } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count, decimal, percent, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Stat } from "../../ui/stat.tsx";
import { Table } from "../../ui/table.tsx";
import { Choice } from "../../ui/tabs.tsx";
import { PROXY_COLUMNS, SITE_COLUMNS } from "./proxy-columns.tsx";
import { proxyRowsOf, siteRowsOf, totalsOf } from "./proxy-rows.ts";

const POLL_MS = 4_000;
const VIEWS = [
  { value: "sites", label: "By site" },
  { value: "proxies", label: "By proxy" },
] as const;
const STATES = [
  { value: "all", label: "All" },
  { value: "ejected", label: "Ejected" },
] as const;

export function Proxies() {
  const { value, error, isLoading, reload } = usePolled((signal) => api().proxies({ signal }), POLL_MS);
  return (
    <Page
      title="Proxies"
      subtitle={value === undefined ? "" : `${plural(value.proxies.length, "proxy", "proxies")}. Updated every 4 s.`}
    >
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value !== undefined && (value.proxies.length === 0 ? <NoProxies /> : <Figures found={value} />)}
    </Page>
  );
}

function Figures({ found }: { found: ProxiesOut }) {
  const { q = "", view, state } = route.value.query;
  const isByProxy = view === "proxies";
  const isEjectedOnly = state === "ejected";
  const empty = (
    <Empty title={q === "" && !isEjectedOnly ? "No requests were sent through a proxy yet." : "No rows match."} />
  );
  return (
    <>
      <Totals found={found} />
      <div class="filters">
        <SearchField label="Search proxies" placeholder={isByProxy ? "Name or tag" : "Part of a name"} />
        <Choice
          label="Show"
          options={VIEWS}
          value={isByProxy ? "proxies" : "sites"}
          onChange={(next) => setQuery({ view: next === "proxies" ? next : undefined })}
        />
        <Choice
          label="State"
          options={STATES}
          value={isEjectedOnly ? "ejected" : "all"}
          onChange={(next) => setQuery({ state: next === "ejected" ? next : undefined })}
        />
      </div>
      {isByProxy ? (
        <Table
          key="proxies"
          label="Proxies"
          columns={PROXY_COLUMNS}
          rows={proxyRowsOf(found, q, isEjectedOnly)}
          keyOf={({ id }) => id}
          empty={empty}
        />
      ) : (
        <Table
          key="sites"
          label="Providers by site"
          columns={SITE_COLUMNS}
          rows={siteRowsOf(found, q, isEjectedOnly)}
          keyOf={({ provider, site }) => `${provider} ${site}`}
          hrefOf={({ site }) => hrefOf(["sites", site])}
          empty={empty}
        />
      )}
    </>
  );
}

function Totals({ found }: { found: ProxiesOut }) {
  const { requests, success, blocked, cost, ejected } = totalsOf(found);
  return (
    <div class="stats">
      <Stat
        label="Requests"
        value={count(requests)}
        tip="Requests through all proxies. The figures of a site are deleted 7 days after its last request."
      />
      <Stat
        label="Success"
        value={percent(success)}
        tip="The share of requests to which the site responded without a block."
      />
      <Stat
        label="Blocked"
        value={count(blocked)}
        tip="Responses that are a page of a bot protection or a captcha, or a 403, or a 429 without Retry-After."
      />
      <Stat
        label="Cost"
        value={decimal(cost)}
        tip="The sum of the costs of all requests, in the unit of your settings."
      />
      <Stat
        label="Ejected"
        value={`${count(ejected)} / ${count(found.proxies.length)}`}
        tip="Proxies that are ejected at some or all sites, and the number of all proxies."
      />
    </div>
  );
}

function NoProxies() {
  return (
    <Empty title="No proxies are set up.">
      <p>Workers send requests from their own address. To use proxies, set them for the workers and for this server:</p>
      <pre>TRAWL_PROXIES=proxies.txt trawl up</pre>
      <p>
        The file contains one URL per line, such as <code>http://proxy.example:8080</code>. Pass passwords as
        references: <code>socks5://user:env:PROXY_PASSWORD@proxy.example:1080</code>.
      </p>
    </Empty>
  );
}
