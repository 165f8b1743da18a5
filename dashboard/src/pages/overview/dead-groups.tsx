import type { DeadGroupOut } from "../../../../src/api/wire-fleet.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";

const EVERY_MS = 10_000;
const SHOWN = 8;

const COLUMNS: readonly Column<DeadGroupOut>[] = [
  {
    id: "reason",
    title: "Reason",
    tip: "Why they were given up on.",
    rem: 9,
    cell: ({ reason, status }) => (status === null ? reason : `${reason} (${status})`),
  },
  { id: "site", title: "Site", rem: 6, grow: 2, cell: ({ site }) => <Scraped text={site} /> },
  {
    id: "count",
    title: "Letters",
    tip: "How many dead letters of that reason, site and status there are.",
    isNumber: true,
    rem: 4,
    grow: 0,
    cell: ({ count: letters }) => count(letters),
  },
];

/** What was given up on most. */
export function DeadGroups() {
  const asked = usePolled((signal) => api().dead.groups({}, { limit: SHOWN, signal }), EVERY_MS);
  return (
    <Card title="Given up on" actions={<a href="#/dead">All dead letters</a>}>
      <Problem error={asked.error} onRetry={asked.reload} />
      {asked.value === undefined ? (
        asked.error === undefined && <Loading />
      ) : (
        <Table
          label="Groups of dead letters"
          class="is-short"
          columns={COLUMNS}
          rows={asked.value.groups}
          keyOf={({ reason, site, status }) => `${reason} ${site} ${status}`}
          hrefOf={({ reason, site, status }) => hrefOf(["dead"], { reason, site, status: status ?? undefined })}
          empty={
            <Empty title="Nothing was given up on.">
              <p>What fails for good lands here, with its reason, to be replayed or discarded.</p>
            </Empty>
          }
        />
      )}
    </Card>
  );
}
