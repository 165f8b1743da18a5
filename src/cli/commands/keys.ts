/** `trawl keys`: who may ask the API. The first key is made on the store itself, before there is anybody to ask. */
import { type Command, InvalidArgumentError } from "commander";
import { checkKey } from "../../api/keys/new-key.ts";
import { type Quotas, SCOPES, type Scope } from "../../domain/api-key.ts";
import { formatCount, plural } from "../../domain/counted.ts";
import { parseDurationMs } from "../../domain/duration.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import type { ApiKey } from "../../store/key-book.ts";
import { wholeNumber } from "../flags.ts";
import { inPlane, type PlaneFlags, type PlaneSession, withPlane } from "../plane/in-plane.ts";
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

Scopes: read sees jobs and what they brought, submit makes and steers them,
admin is both and what all tenants share. A key of a tenant sees that tenant's
jobs alone, one without sees everybody's.
A key is printed once, alone on stdout; only its hash is kept. From the first
key on trawl serve asks everybody for one, and may listen on any --host.
Servers that run notice within 3 seconds.`;

export function addKeys(program: Command): void {
  withPlane(program.command("keys"))
    .argument("[action]", `what to do: ${ACTIONS.join(", ")}`, "list")
    .argument("[name]", "add: a name for people to know it by; revoke: the id of a key, or its name")
    .description("make, list and revoke the keys of the API")
    .option("--tenant <name>", "whose jobs it sees (default: everybody's)")
    .option("--scopes <list>", `what it may do, with commas between: ${SCOPES.join(", ")}`, scopeList, [
      "read",
      "submit",
    ])
    .option("--expires <duration>", "how long it is good, such as 12h or 90d (default: until it is revoked)", duration)
    .option(
      "--max-pending <n>",
      "URLs waiting in the tenant's jobs, past which no more are taken",
      wholeNumber("--max-pending", 1),
    )
    .option("--max-rate <n>", "URLs it may queue a second, on average", rateNumber)
    .option("--max-jobs <n>", "the tenant's jobs that have not ended", wholeNumber("--max-jobs", 1))
    .addHelpText("after", EXAMPLES)
    .action((action: string, name: string | undefined, flags: Flags) => {
      if (action === "list" && name === undefined) return inPlane({ flags }, (session) => list(session, flags));
      if (action === "add") return inPlane({ flags }, (session) => add(session, named(name, "add NAME"), flags));
      if (action === "revoke") return inPlane({ flags }, (session) => revoke(session, named(name, "revoke ID"), flags));
      throw usage(`trawl keys ${action}${name === undefined ? "" : " …"}: takes ${ACTIONS.join(", ")}`);
    });
}

async function add(session: PlaneSession, name: string, flags: Flags): Promise<void> {
  const { plane, screen, now } = session;
  const { tenant, scopes, expires, maxPending: pending, maxRate: urlsPerSecond, maxJobs: jobs } = flags;
  if (!/^[\x20-\x7e]{1,100}$/.test(name)) throw usage("a key's name takes 1 to 100 printable characters");
  const expiresAt = expires === undefined ? undefined : now() + expires;
  checkFlags({ tenant, scopes });
  const draft = { name, tenant, scopes, quotas: { pending, urlsPerSecond, jobs }, expiresAt };
  if (!scopes.includes("admin")) await assertNobodyIsLockedOut(session);
  const { key, secret } = await plane.keys.add(draft);
  if (flags.json === true) {
    const shown = await asJson(key, now());
    return screen.out(`${JSON.stringify({ ...shown, key: secret })}\n`);
  }
  await screen.out(`${secret}\n`);
  screen.err(`that is the key ${key.id}, shown this once; send it as: Authorization: Bearer KEY\n`);
}

/** With the first key a server begins to ask everybody for one; on the store itself another can always be made. */
async function assertNobodyIsLockedOut({ plane, isServed }: PlaneSession): Promise<void> {
  if (!isServed || (await plane.keys.list()).length > 0) return;
  throw usage(
    "with its first key a server begins to ask everybody for one, and with this one nobody could make another: first make one with --scopes admin",
  );
}

async function list({ plane, screen, now: clock }: PlaneSession, flags: Flags): Promise<void> {
  const keys = await plane.keys.list();
  const now = clock();
  if (flags.json === true) {
    const shown = await Promise.all(keys.map((key) => asJson(key, now)));
    return screen.out(`${JSON.stringify({ keys: shown })}\n`);
  }
  if (keys.length === 0) {
    return screen.err(
      `no keys: trawl serve listens on this machine alone, and asks for none; make one: ${screen.command} keys add NAME\n`,
    );
  }
  const head = ["ID", "NAME", "TENANT", "SCOPES", "USED", "STATE"];
  const rows = keys.map((key) => [
    ...[key.id, key.name, key.tenant ?? "-", key.scopes.join(",")],
    key.lastUsedAt === undefined ? "never" : `${roughAge(now - key.lastUsedAt)} ago`,
    [stateWords(key, now), ...quotaWords(key.quotas)].join(", "),
  ]);
  // Not cut to the terminal: half a quota says less than a line that wraps.
  return screen.out(table([head, ...rows]));
}

async function revoke({ plane, screen, now }: PlaneSession, word: string, flags: Flags): Promise<void> {
  const keys = await plane.keys.list();
  const byName = keys.filter(({ name, revokedAt }) => name === word && revokedAt === undefined);
  const { id } = keys.find((key) => key.id === word) ?? (byName.length === 1 ? byName[0] : undefined) ?? {};
  if (id === undefined) {
    const problem =
      byName.length > 1
        ? `${byName.length} keys are named ${word} (${byName.map((key) => key.id).join(", ")}): give the id of one`
        : `no key has the id or the name ${word}; list them: ${screen.command} keys`;
    throw new TrawlError("NOT_FOUND", { op: "cli.keys", message: problem });
  }
  const revoked = await plane.keys.revoke(id);
  if (flags.json === true) return screen.out(`${JSON.stringify(await asJson(revoked, now()))}\n`);
  screen.err(`${id} is revoked; servers that run take it for 3 more seconds at most\n`);
}

/** Loaded on first use: what describes answers takes longer to load than this command takes. */
async function asJson(key: ApiKey, now: number) {
  const { keyOut } = await import("../../api/wire-keys.ts");
  return keyOut(key, now);
}

function stateWords({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== undefined) return `revoked ${roughAge(now - revokedAt)} ago`;
  if (expiresAt === undefined) return "good";
  return expiresAt <= now ? `expired ${roughAge(now - expiresAt)} ago` : `good for ${roughAge(expiresAt - now)}`;
}

function quotaWords({ pending, urlsPerSecond, jobs }: Quotas): string[] {
  return [
    ...(pending === undefined ? [] : [`${formatCount(pending)} pending`]),
    ...(urlsPerSecond === undefined ? [] : [`${plural(urlsPerSecond, "URL")}/s`]),
    ...(jobs === undefined ? [] : [plural(jobs, "job")]),
  ];
}

/** What is wrong with a key is wrong with the flags here. */
function checkFlags(draft: Parameters<typeof checkKey>[0]): void {
  try {
    checkKey(draft);
  } catch (error) {
    if (isTrawlError(error, "BAD_REQUEST")) throw usage(`--${error.message}`);
    throw error;
  }
}

function named(name: string | undefined, words: string): string {
  if (name !== undefined && name !== "") return name;
  throw usage(`give a name: trawl keys ${words}`);
}

function usage(message: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.keys", message });
}

function scopeList(value: string): Scope[] {
  const words = value.split(",").map((word) => word.trim());
  if (words.every((word) => (SCOPES as readonly string[]).includes(word))) return words as Scope[];
  throw new InvalidArgumentError(`--scopes takes ${SCOPES.join(", ")}, with commas between.`);
}

function duration(value: string): number {
  const ms = /^\d+$/.test(value) ? undefined : parseDurationMs(value); // a bare number would be milliseconds
  if (ms !== undefined && ms > 0) return ms;
  throw new InvalidArgumentError("--expires takes a duration such as 12h or 90d.");
}

function rateNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== "" && number >= 0.001 && number <= 1e9) return number;
  throw new InvalidArgumentError("--max-rate takes a number of URLs a second, 0.001 or more.");
}
