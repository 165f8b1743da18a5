import type { DeadGroupOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";

const POLL_MS = 10_000;

const COLUMNS: readonly Column<DeadGroupOut>[] = [
  {
    id: "reason",
    title: "Reason",
    rem: 7,
    cell: ({ reason, status }) => (status === null ? reason : `${reason} ${status}`),
  },
  { id: "count", title: "URLs", isNumber: true, rem: 5, grow: 0, cell: (group) => count(group.count) },
  { id: "sample", title: "Example", rem: 8, grow: 2, cell: ({ sample }) => <ScrapedLink url={sample} /> },
];

/** The dead letters of the site by reason. */
export function SiteDeadLetters({ site }: { site: string }) {
  const { value, error } = usePolled((signal) => api().dead.groups({ site }, { signal }), POLL_MS, [site]);
  return (
    <Card
      title="Failed URLs"
      actions={<a href={hrefOf(["dead"], { site })}>{may("submit") ? "Replay or discard" : "Show dead letters"}</a>}
    >
      <Problem error={error} />
      {value === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Table
          label="Dead letters of this site"
          columns={COLUMNS}
          rows={value.groups}
          keyOf={({ reason, status }) => `${reason} ${status}`}
          empty={<Empty title="No failed URLs at this site." />}
        />
      )}
    </Card>
  );
}
