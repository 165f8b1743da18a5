/** Dead letters grouped by reason, site and status, largest first. A click on a group sets the filter. */

import type { DeadFilter } from "../../../../src/client/client.ts";
import type { DeadGroupOut } from "../../../../src/client/wire-types.ts";
import { hrefOf } from "../../router.ts";
import { DEAD_REASONS, reasonText } from "../../ui/dead-reasons.ts";
import { count, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";

type GroupsProps = {
  groups: readonly DeadGroupOut[];
  filter: DeadFilter;
  /** There may be more, smaller groups. */
  isCut: boolean;
};

export function Groups({ groups, filter, isCut }: GroupsProps) {
  const max = Math.max(1, ...groups.map((group) => group.count));
  return (
    <Card
      title="Groups"
      actions={
        <span class="muted">{isCut ? `largest ${count(groups.length)} groups` : plural(groups.length, "group")}</span>
      }
    >
      <Table
        label="Groups of dead letters"
        class="is-short"
        columns={columnsFor(max)}
        rows={groups}
        keyOf={({ reason, site, status }) => `${reason} ${site} ${status}`}
        hrefOf={({ reason, site, status }) =>
          hrefOf(["dead"], { ...filter, reason, site, status: status ?? undefined })
        }
      />
    </Card>
  );
}

function columnsFor(max: number): Column<DeadGroupOut>[] {
  return [
    {
      id: "reason",
      title: "Reason",
      tip: "Why these URLs failed.",
      rem: 7,
      sortBy: ({ reason }) => reason,
      cell: ({ reason, status, cause }) => (
        <Tip text={DEAD_REASONS[reason]} isUnfocusable>
          {reasonText(reason, null, cause === `HTTP ${status}` ? null : cause)}
        </Tip>
      ),
    },
    {
      id: "status",
      title: "Status",
      tip: "The HTTP status, if the site responded.",
      isNumber: true,
      rem: 3,
      grow: 0,
      sortBy: ({ status }) => status,
      cell: ({ status }) => status ?? "–",
    },
    {
      id: "count",
      title: "Count",
      tip: "Dead letters with this reason, site and status. The bar compares the count with that of the largest group.",
      isNumber: true,
      rem: 4,
      grow: 0,
      sortBy: (group) => group.count,
      cell: (group) => count(group.count),
    },
    {
      id: "bar",
      title: "",
      rem: 6,
      from: "tablet",
      cell: (group) => (
        <span class="dead-bar" aria-hidden="true">
          <span style={{ transform: `scaleX(${group.count / max})` }} />
        </span>
      ),
    },
    {
      id: "site",
      title: "Site",
      rem: 6,
      grow: 2,
      sortBy: ({ site }) => site,
      cell: ({ site }) => <Scraped text={site} />,
    },
    {
      id: "sample",
      title: "Example",
      rem: 10,
      grow: 3,
      from: "desktop",
      cell: ({ sample }) => <Scraped text={sample} />,
    },
  ];
}
