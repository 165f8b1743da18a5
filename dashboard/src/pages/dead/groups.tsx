/** What they died of, the most first; a group is a filter. */
import type { DeadGroupOut } from "../../../../src/api/wire-fleet.ts";
import type { DeadFilter } from "../../../../src/client/client.ts";
import { hrefOf } from "../../router.ts";
import { DEAD_REASONS } from "../../ui/dead-reasons.ts";
import { count, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";

type GroupsProps = {
  groups: readonly DeadGroupOut[];
  filter: DeadFilter;
  /** Whether there may be more, smaller ones. */
  isCut: boolean;
};

export function Groups({ groups, filter, isCut }: GroupsProps) {
  const most = Math.max(1, ...groups.map((group) => group.count));
  return (
    <Card
      title="By reason, site and status"
      actions={
        <span class="quiet">
          {isCut ? `the largest ${count(groups.length)} groups` : plural(groups.length, "group")}
        </span>
      }
    >
      <Table
        label="Groups of dead letters"
        class="is-short"
        columns={columnsFor(most)}
        rows={groups}
        keyOf={({ reason, site, status }) => `${reason} ${site} ${status}`}
        hrefOf={({ reason, site, status }) =>
          hrefOf(["dead"], { ...filter, reason, site, status: status ?? undefined })
        }
      />
    </Card>
  );
}

function columnsFor(most: number): Column<DeadGroupOut>[] {
  return [
    {
      id: "reason",
      title: "Reason",
      tip: "Why they were given up on.",
      rem: 7,
      sortBy: ({ reason }) => reason,
      cell: ({ reason }) => (
        <Tip says={DEAD_REASONS[reason]} isQuiet>
          {reason}
        </Tip>
      ),
    },
    {
      id: "status",
      title: "Status",
      tip: "What the site answered with, where it did.",
      isNumber: true,
      rem: 3,
      grow: 0,
      sortBy: ({ status }) => status,
      cell: ({ status }) => status ?? "–",
    },
    {
      id: "count",
      title: "Letters",
      tip: "How many of that reason, site and status there are now. The bar is their share of the largest group.",
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
          <span style={{ transform: `scaleX(${group.count / most})` }} />
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
      title: "Such as",
      rem: 10,
      grow: 3,
      from: "desk",
      cell: ({ sample }) => <Scraped text={sample} />,
    },
  ];
}
