import type { DeadGroupOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { reasonText } from "../../ui/dead-reasons.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";

const POLL_MS = 10_000;
const SHOWN = 8;

const COLUMNS: readonly Column<DeadGroupOut>[] = [
  {
    id: "reason",
    title: "Reason",
    tip: "Why these URLs failed.",
    rem: 9,
    cell: ({ reason, status, cause }) => reasonText(reason, status, cause),
  },
  { id: "site", title: "Site", rem: 6, grow: 2, cell: ({ site }) => <Scraped text={site} /> },
  {
    id: "count",
    title: "URLs",
    tip: "Dead letters with this reason, site and status.",
    isNumber: true,
    rem: 4,
    grow: 0,
    cell: ({ count: letters }) => count(letters),
  },
];

/** The largest groups of dead letters. */
export function DeadGroups() {
  const groups = usePolled((signal) => api().dead.groups({}, { limit: SHOWN, signal }), POLL_MS);
  return (
    <Card title="Failed URLs" actions={<a href="#/dead">All dead letters</a>}>
      <Problem error={groups.error} onRetry={groups.reload} />
      {groups.value === undefined ? (
        groups.error === undefined && <Loading />
      ) : (
        <Table
          label="Groups of dead letters"
          class="is-short"
          columns={COLUMNS}
          rows={groups.value.groups}
          keyOf={({ reason, site, status }) => `${reason} ${site} ${status}`}
          hrefOf={({ reason, site, status }) => hrefOf(["dead"], { reason, site, status: status ?? undefined })}
          empty={
            <Empty title="No failed URLs.">
              <p>URLs that fail permanently are listed here with their reason. You can replay or discard them.</p>
            </Empty>
          }
        />
      )}
    </Card>
  );
}
