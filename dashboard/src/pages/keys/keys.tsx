/** Keys of the API: who may ask this server, for what, and how much. */
import { useState } from "preact/hooks";
import type { KeyOut } from "../../../../src/api/wire-keys.ts";
import { useListed } from "../../listed.ts";
import { api, session } from "../../session.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { UNKNOWN } from "../../ui/format.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped, ScrapedWords } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { quotaWords, SCOPE_WORDS } from "./key-words.ts";
import { NewKeyDialog } from "./new-key.tsx";
import "./keys.css";

export function Keys() {
  const listed = useListed((options) => api().keys.list(options), []);
  const [open, setOpen] = useState<"new" | KeyOut | undefined>(undefined);
  const { rows, isLoading, loadMore } = listed;
  const now = session.value;
  const isOpen = now.state === "signed-in" && now.me.keyId === null;
  const close = () => setOpen(undefined);
  const make = (
    <button type="button" class="primary" onClick={() => setOpen("new")}>
      New key
    </button>
  );
  return (
    <Page title="Keys" says="Who may ask this server, for what, and how much." actions={make}>
      {isOpen && <OpenServer />}
      <Problem error={listed.error} onRetry={listed.reload} />
      {rows.length === 0 && isLoading && <Loading />}
      {rows.length === 0 && !isLoading && listed.error === undefined && (
        <Empty title="No key was made yet.">
          <p>Keys of the settings (TRAWL_API_KEYS) are not listed here. Make one for each program and person.</p>
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
      {open === "new" && <NewKeyDialog isFirst={isOpen} onMade={listed.reload} onClose={close} />}
      {open !== undefined && open !== "new" && <Revoke known={open} onDone={listed.reload} onClose={close} />}
    </Page>
  );
}

function OpenServer() {
  return (
    <div class="note" role="note">
      <p>
        <b>This server asks nobody for a key.</b> Whoever reaches it may do everything, so only this machine does. With
        the first key it asks everybody for one: make yours with the scope admin, and keep it.
      </p>
    </div>
  );
}

function ScopesCard() {
  return (
    <Card title="What the scopes are good for">
      <dl class="facts card-body">
        {Object.entries(SCOPE_WORDS).flatMap(([scope, words]) => [
          <dt key={scope} class="mono">
            {scope}
          </dt>,
          <dd key={`${scope} words`}>{words}</dd>,
        ])}
      </dl>
    </Card>
  );
}

function Revoke({ known: { id, name }, onDone, onClose }: { known: KeyOut; onDone: () => void; onClose: () => void }) {
  return (
    <Confirm
      title="Revoke the key"
      verb="Revoke it"
      isDanger
      onClose={onClose}
      act={async () => {
        await api().keys.revoke(id);
        onDone();
      }}
    >
      <p>
        Whoever uses <ScrapedWords text={name} /> ({id}) is turned away from now on; other instances of the server
        believe in it for 3 seconds more. It cannot be undone. The jobs that were submitted with it stay.
      </p>
    </Confirm>
  );
}

const TONES: Readonly<Record<KeyOut["state"], Tone>> = { good: "good", expired: "warn", revoked: "quiet" };

function columnsFor(onRevoke: (known: KeyOut) => void): Column<KeyOut>[] {
  return [
    { id: "name", title: "Name", rem: 8, grow: 2, cell: ({ name }) => <Scraped text={name} /> },
    { id: "state", title: "State", rem: 5, grow: 0, cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge> },
    {
      id: "scopes",
      title: "Scopes",
      tip: "What it is good for; see below.",
      rem: 7,
      from: "tablet",
      cell: ({ scopes }) => scopes.join(", "),
    },
    {
      id: "tenant",
      title: "Tenant",
      tip: "Whose jobs it sees; everybody's where it has none.",
      rem: 6,
      from: "tablet",
      cell: ({ tenant }) => (tenant === null ? UNKNOWN : <Scraped text={tenant} />),
    },
    {
      id: "quotas",
      title: "Quotas",
      tip: "How much it may have waiting, send in a second, and have under way.",
      rem: 9,
      grow: 2,
      from: "desk",
      cell: ({ quotas }) => quotaWords(quotas),
    },
    {
      id: "used",
      title: "Last used",
      tip: "To the minute or so.",
      rem: 6,
      grow: 0,
      from: "desk",
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Ago at={lastUsedAt} />),
    },
    {
      id: "expires",
      title: "Expires",
      rem: 6,
      grow: 0,
      from: "desk",
      cell: ({ expiresAt }) => (expiresAt === null ? "never" : <Ago at={expiresAt} />),
    },
    {
      id: "revoke",
      title: "",
      rem: 5.5,
      grow: 0,
      cell: (known) =>
        known.state === "revoked" ? null : (
          <button type="button" class="small" aria-label={`Revoke ${known.name}`} onClick={() => onRevoke(known)}>
            Revoke …
          </button>
        ),
    },
  ];
}
