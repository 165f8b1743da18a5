/** The API keys. */
import { useState } from "preact/hooks";
import type { KeyOut } from "../../../../src/client/wire-types.ts";
import { useIteratedRows } from "../../paged-rows.ts";
import { api, session } from "../../session.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { UNKNOWN } from "../../ui/format.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped, ScrapedText } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { quotaText, SCOPE_TEXT } from "./key-text.ts";
import { NewKeyDialog } from "./new-key.tsx";
import "./keys.css";

export function Keys() {
  const paged = useIteratedRows((options) => api().keys.list(options), []);
  const [open, setOpen] = useState<"new" | KeyOut | undefined>(undefined);
  const { rows, isLoading, loadMore } = paged;
  const now = session.value;
  const isOpen = now.state === "signed-in" && now.me.keyId === null;
  const close = () => setOpen(undefined);
  const newKeyButton = (
    <button type="button" class="primary" onClick={() => setOpen("new")}>
      New key
    </button>
  );
  return (
    <Page title="Keys" subtitle="API keys for programs and people." actions={newKeyButton}>
      {isOpen && <OpenServer />}
      <Problem error={paged.error} onRetry={paged.reload} />
      {rows.length === 0 && isLoading && <Loading />}
      {rows.length === 0 && !isLoading && paged.error === undefined && (
        <Empty title="No keys yet.">
          <p>Create a key for each program and person. Keys that are set with TRAWL_API_KEYS are not listed here.</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <Table
          label="Keys"
          columns={columnsFor(setOpen)}
          rows={rows}
          keyOf={({ id }) => id}
          loadMore={loadMore}
          isLoading={isLoading}
        />
      )}
      <ScopesCard />
      {open === "new" && <NewKeyDialog isFirst={isOpen} onCreated={paged.reload} onClose={close} />}
      {open !== undefined && open !== "new" && <ConfirmRevoke revoked={open} onDone={paged.reload} onClose={close} />}
    </Page>
  );
}

function OpenServer() {
  return (
    <div class="note" role="note">
      <p>
        <b>This server requires no key.</b> Everyone who can reach it has full access, so it only accepts connections
        from this machine. As soon as you create a key, every request needs one. Give the first key the scope admin.
      </p>
    </div>
  );
}

function ScopesCard() {
  return (
    <Card title="Scopes">
      <dl class="facts card-body">
        {Object.entries(SCOPE_TEXT).flatMap(([scope, text]) => [
          <dt key={scope} class="mono">
            {scope}
          </dt>,
          <dd key={`${scope} text`}>{text}</dd>,
        ])}
      </dl>
    </Card>
  );
}

type RevokeProps = { revoked: KeyOut; onDone: () => void; onClose: () => void };

function ConfirmRevoke({ revoked: { id, name }, onDone, onClose }: RevokeProps) {
  return (
    <Confirm
      title="Revoke this key?"
      verb="Revoke key"
      isDanger
      onClose={onClose}
      act={async () => {
        await api().keys.revoke(id);
        onDone();
      }}
    >
      <p>
        This server refuses the key <ScrapedText text={name} /> ({id}) from now on. Other servers accept it for up to 3
        more seconds. Jobs that were submitted with the key stay. This cannot be undone.
      </p>
    </Confirm>
  );
}

const STATES: Readonly<Record<KeyOut["state"], { label: string; tone: Tone }>> = {
  good: { label: "active", tone: "good" },
  expired: { label: "expired", tone: "warn" },
  revoked: { label: "revoked", tone: "neutral" },
};

function columnsFor(onRevoke: (key: KeyOut) => void): Column<KeyOut>[] {
  return [
    { id: "name", title: "Name", rem: 8, grow: 2, cell: ({ name }) => <Scraped text={name} /> },
    {
      id: "state",
      title: "State",
      rem: 5,
      grow: 0,
      cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>,
    },
    {
      id: "scopes",
      title: "Scopes",
      tip: "What the key allows. The card below explains the scopes.",
      rem: 7,
      from: "tablet",
      cell: ({ scopes }) => scopes.join(", "),
    },
    {
      id: "tenant",
      title: "Tenant",
      tip: "The key has access to the jobs of its tenant only. A key without a tenant has access to all jobs.",
      rem: 6,
      from: "tablet",
      cell: ({ tenant }) => (tenant === null ? UNKNOWN : <Scraped text={tenant} />),
    },
    {
      id: "quotas",
      title: "Quotas",
      tip: "Limits for waiting URLs, submitted URLs per second, and active jobs.",
      rem: 9,
      grow: 2,
      from: "desktop",
      cell: ({ quotas }) => quotaText(quotas),
    },
    {
      id: "used",
      title: "Last used",
      tip: "Accurate to about a minute.",
      rem: 6,
      grow: 0,
      from: "desktop",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Ago at={lastUsedAt} />),
    },
    {
      id: "expires",
      title: "Expires",
      rem: 6,
      grow: 0,
      from: "desktop",
      cell: ({ expiresAt }) => (expiresAt === null ? "never" : <Ago at={expiresAt} />),
    },
    {
      id: "revoke",
      title: "",
      rem: 5.5,
      grow: 0,
      cell: (key) =>
        key.state === "revoked" ? null : (
          <button type="button" class="small" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
            Revoke …
          </button>
        ),
    },
  ];
}
