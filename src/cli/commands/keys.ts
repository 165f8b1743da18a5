/** `trawl keys`: manages API keys. The first key is created directly in the store, before a server requires keys. */

import { type Command, InvalidArgumentError } from "commander";
import { checkKey } from "../../control/new-key.ts";
import { keyOut } from "../../control/views/key.ts";
import { type Quotas, SCOPES, type Scope } from "../../domain/api-key.ts";
import { parseDurationMs } from "../../domain/duration.ts";
import { formatCount, plural } from "../../domain/format-number.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import type { ApiKey } from "../../store/key-store.ts";
import { wholeNumber } from "../flags.ts";
import { type PlaneFlags, type PlaneSession, runOnPlane, withPlaneFlags } from "../plane/run-on-plane.ts";
import { roughAge, table } from "../terminal.ts";

type Flags = PlaneFlags & {
  tenant?: string;
  scopes: readonly Scope[];
  expires?: number;
  maxPending?: number;
  maxRate?: number;
  maxJobs?: number;
};

const ACTIONS = ["list", "add", "revoke"] as const;

const EXAMPLES = `
Examples:
  trawl keys add operator --scopes admin
  trawl keys add ci --tenant acme --expires 90d --max-pending 100000
  KEY=$(trawl keys add reports --scopes read)
  curl -s localhost:7700/v1/jobs -H "Authorization: Bearer $KEY"
  trawl keys
  trawl keys revoke k0123456789ab

Scopes: read (see jobs and their results), submit (create and control jobs) and
admin (both, and manage queues, workers, sites and keys). A key with a tenant
sees only that tenant's jobs; a key without a tenant sees all jobs.
A new key is printed once, on stdout; only its hash is stored. As soon as a key
exists, trawl serve requires a key for every request, except for health checks,
the API documentation and the files of the dashboard. It may then listen on any
--host. Running servers apply changes within 3 seconds.`;

export function addKeys(program: Command): void {
  withPlaneFlags(program.command("keys"))
    .argument("[action]", `what to do: ${ACTIONS.join(", ")}`, "list")
    .argument("[name]", "add: a name for the key; revoke: the id or name of a key")
    .description("create, list and revoke API keys")
    .option("--tenant <name>", "the key can see only the jobs of this tenant (default: all jobs)")
    .option("--scopes <list>", `permissions, comma-separated: ${SCOPES.join(", ")}`, scopeList, ["read", "submit"])
    .option("--expires <duration>", "lifetime, for example 12h or 90d (default: until revoked)", duration)
    .option(
      "--max-pending <n>",
      "maximum number of pending and running URLs of the tenant, or of this key if the key has no tenant; more are refused",
      wholeNumber("--max-pending", 1),
    )
    .option("--max-rate <n>", "maximum number of URLs that this key queues per second, on average", rateNumber)
    .option(
      "--max-jobs <n>",
      "maximum number of running and paused jobs of the tenant, or of this key if the key has no tenant",
      wholeNumber("--max-jobs", 1),
    )
    .addHelpText("after", EXAMPLES)
    .action((action: string, name: string | undefined, flags: Flags) => {
      if (action === "list" && name === undefined) return runOnPlane({ flags }, (session) => list(session, flags));
      if (action === "add") return runOnPlane({ flags }, (session) => add(session, named(name, "add NAME"), flags));
      if (action === "revoke")
        return runOnPlane({ flags }, (session) => revoke(session, named(name, "revoke ID"), flags));
      throw usage(`trawl keys: unknown action ${action}; use ${ACTIONS.join(", ")}`);
    });
}

async function add(session: PlaneSession, name: string, flags: Flags): Promise<void> {
  const { plane, screen, now } = session;
  const { tenant, scopes, expires, maxPending: pending, maxRate: urlsPerSecond, maxJobs: jobs } = flags;
  if (!/^[\x20-\x7e]{1,100}$/.test(name)) throw usage("a key's name must be 1 to 100 printable ASCII characters");
  const expiresAt = expires === undefined ? undefined : now() + expires;
  checkFlags({ tenant, scopes });
  const draft = { name, tenant, scopes, quotas: { pending, urlsPerSecond, jobs }, expiresAt };
  if (!scopes.includes("admin")) await assertFirstKeyIsAdmin(session);
  const { key, secret } = await plane.keys.add(draft);
  if (flags.json === true) {
    const shown = keyOut(key, now());
    return screen.out(`${JSON.stringify({ ...shown, key: secret })}\n`);
  }
  await screen.out(`${secret}\n`);
  screen.err(
    `created key ${key.id}; its secret is on stdout and is not shown again; send it as: Authorization: Bearer KEY\n`,
  );
}

/**
 * Called before a key without the scope `admin` is created. Throws if it would be the first key of a server. Once a key
 * exists, the server requires one. If the first key could not create others, no further key could be created through
 * the API. With direct access to the store, another key can always be created.
 */
async function assertFirstKeyIsAdmin({ plane, isServed }: PlaneSession): Promise<void> {
  if (!isServed || (await plane.keys.list()).length > 0) return;
  throw usage(
    "the first key must have --scopes admin: as soon as a key exists, the server requires a key, and only an admin key can create more keys",
  );
}

async function list({ plane, screen, now: clock }: PlaneSession, flags: Flags): Promise<void> {
  const keys = await plane.keys.list();
  const now = clock();
  if (flags.json === true) {
    const shown = keys.map((key) => keyOut(key, now));
    return screen.out(`${JSON.stringify({ keys: shown })}\n`);
  }
  if (keys.length === 0) {
    return screen.err(
      `no keys: trawl serve requires no key, and listens only on loopback addresses; create a key with: ${screen.command} keys add NAME\n`,
    );
  }
  const head = ["ID", "NAME", "TENANT", "SCOPES", "USED", "STATE"];
  const rows = keys.map((key) => [
    ...[key.id, key.name, key.tenant ?? "-", key.scopes.join(",")],
    key.lastUsedAt === undefined ? "never" : `${roughAge(now - key.lastUsedAt)} ago`,
    [stateText(key, now), ...quotaTexts(key.quotas)].join(", "),
  ]);
  // The table is not shortened to the terminal's width: a wrapped line is better than a quota that is cut off.
  return screen.out(table([head, ...rows]));
}

async function revoke({ plane, screen, now }: PlaneSession, idOrName: string, flags: Flags): Promise<void> {
  const keys = await plane.keys.list();
  const byName = keys.filter(({ name, revokedAt }) => name === idOrName && revokedAt === undefined);
  const { id } = keys.find((key) => key.id === idOrName) ?? (byName.length === 1 ? byName[0] : undefined) ?? {};
  if (id === undefined) {
    const problem =
      byName.length > 1
        ? `${byName.length} keys are named ${idOrName}; pass one of their ids: ${byName.map((key) => key.id).join(", ")}`
        : `no key has the id or name ${idOrName}; list keys with: ${screen.command} keys`;
    throw new TrawlError("NOT_FOUND", { op: "cli.keys", message: problem });
  }
  const revoked = await plane.keys.revoke(id);
  if (flags.json === true) return screen.out(`${JSON.stringify(keyOut(revoked, now()))}\n`);
  screen.err(`${id} is revoked; running servers reject it within 3 seconds\n`);
}

function stateText({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return `revoked ${roughAge(now - revokedAt)} ago`;
  if (expiresAt === undefined) return "active";
  return expiresAt <= now ? `expired ${roughAge(now - expiresAt)} ago` : `expires in ${roughAge(expiresAt - now)}`;
}

function quotaTexts({ pending, urlsPerSecond, jobs }: Quotas): string[] {
  return [
    ...(pending === undefined ? [] : [`${formatCount(pending)} pending`]),
    ...(urlsPerSecond === undefined ? [] : [`${plural(urlsPerSecond, "URL")}/s`]),
    ...(jobs === undefined ? [] : [plural(jobs, "job")]),
  ];
}

/** Reports an invalid key as invalid flags. */
function checkFlags(draft: Parameters<typeof checkKey>[0]): void {
  try {
    checkKey(draft);
  } catch (error) {
    if (isTrawlError(error, "BAD_REQUEST")) throw usage(`--${error.message}`);
    throw error;
  }
}

function named(name: string | undefined, example: string): string {
  if (name !== undefined && name !== "") return name;
  throw usage(`a name is missing: trawl keys ${example}`);
}

function usage(message: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.keys", message });
}

function scopeList(value: string): Scope[] {
  const scopes = value.split(",").map((scope) => scope.trim());
  if (scopes.every((scope) => (SCOPES as readonly string[]).includes(scope))) return scopes as Scope[];
  throw new InvalidArgumentError(`--scopes must be a comma-separated list of ${SCOPES.join(", ")}.`);
}

function duration(value: string): number {
  const ms = /^\d+$/.test(value) ? undefined : parseDurationMs(value); // a bare number would be milliseconds
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError("--expires must be a duration such as 12h or 90d.");
}

function rateNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== "" && number >= 0.001 && number <= 1e9) return number;
  throw new InvalidArgumentError("--max-rate must be a number of URLs per second, 0.001 or more.");
}
