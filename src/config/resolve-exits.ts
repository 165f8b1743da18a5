/** Resolves the entries of the setting `proxies` to exits: replaces references to secrets by their values. */
import { hash } from "node:crypto";
import { EXIT_KINDS, type Exit, type ExitKind } from "../domain/exit.ts";
import type { ProxyEntry } from "../domain/proxy-entry.ts";
import { parseSecretReference } from "../domain/secret-reference.ts";
import { isTrawlError, TrawlError } from "../errors.ts";
import { createSecretResolver } from "./secret-reference.ts";

/** The exits in the order of the list, each once. Throws BAD_SECRET or BAD_CONFIG. */
export function resolveExits(entries: readonly ProxyEntry[]): Exit[] {
  // The operator wrote the list, so it may use all secrets.
  const resolve = createSecretResolver("all");
  return exitsOf(entries, (entry) => resolvedOf(entry, resolve));
}

/** Like `resolveExits`, for showing exits: their secrets may be missing, and an exit that is itself a secret is left out. */
export function describeExits(entries: readonly ProxyEntry[]): Exit[] {
  const resolve = createSecretResolver("all");
  const orNothing = (text: string): string => orElse(() => resolve(text), "");
  return exitsOf(entries, (entry) => orElse(() => resolvedOf(entry, orNothing), undefined));
}

function orElse<T>(make: () => T, otherwise: T): T {
  try {
    return make();
  } catch (error) {
    if (isTrawlError(error)) return otherwise;
    throw error;
  }
}

/**
 * `written`: the URL of the gateway, or the password of the proxy and who resolves host names. It contains references
 * instead of the values of secrets, so the ids are the same in a process that cannot read the secrets.
 */
type Resolved = { exit: Exit; written: string };

/**
 * Exits with the same id that are written differently get the ids `ID`, `ID-2`, `ID-3`, in the order of the list. A hash
 * of the secret is not used, because ids are public and a short password could be found from its hash.
 */
function exitsOf(entries: readonly ProxyEntry[], resolvedFrom: (entry: ProxyEntry) => Resolved | undefined): Exit[] {
  const exits = new Map<string, Exit>();
  const variants = new Map<string, string[]>();
  for (const entry of entries) {
    const resolved = resolvedFrom(entry);
    if (resolved === undefined) continue;
    const { exit, written } = resolved;
    const known = variants.get(exit.id) ?? [];
    if (!known.includes(written)) known.push(written);
    variants.set(exit.id, known);
    const nth = known.indexOf(written) + 1;
    const id = nth === 1 ? exit.id : `${exit.id}-${nth}`;
    const key = `${id} ${exit.scheme ?? ""}`;
    if (!exits.has(key)) exits.set(key, { ...exit, id });
  }
  return [...exits.values()];
}

function resolvedOf(entry: ProxyEntry, resolve: Resolve): Resolved {
  return entry.isGateway ? gatewayOf(entry, resolve) : proxyOf(entry, resolve);
}

/** The credentials of the exits, for the list of values that never appear in logs. */
export function exitSecrets(entries: readonly ProxyEntry[]): string[] {
  try {
    return resolveExits(entries).flatMap((exit) => {
      const isGateway = exit.kind === "gateway";
      const values = isGateway ? [...new URL(exit.url).searchParams.values()] : [exit.password];
      const all = [...values, ...values.map(encodeURIComponent), basicOf(exit)];
      const shortest = isGateway ? MIN_KEY : MIN_PASSWORD;
      return all.filter((value) => value.length >= shortest && !value.includes("{url}"));
    });
  } catch {
    return []; // a reference cannot be resolved; a worker that needs it reports that
  }
}

/**
 * Shorter values are not masked, because they would be masked in words of every log line. A short value in the query of a
 * gateway is an option, such as `render=true`, and not a key.
 */
const MIN_PASSWORD = 4;
const MIN_KEY = 8;

function basicOf({ username, password }: Exit): string {
  return password === "" ? "" : Buffer.from(`${username}:${password}`).toString("base64");
}

type Resolve = (text: string) => string;

function proxyOf(entry: ProxyEntry, resolve: Resolve): Resolved {
  const url = parsed(entry, resolve(entry.url));
  const scheme = url.protocol.slice(0, -1).toLowerCase();
  const kind = scheme === "socks5h" ? "socks5" : scheme;
  if (!isKind(kind)) throw invalid(entry, "is not the URL of an http, https or socks5 proxy");
  const [username, password] = [decodeURIComponent(url.username), resolve(decodeURIComponent(url.password))];
  const resolvedBy = entry.resolve ?? (scheme === "socks5h" ? "proxy" : "here");
  const exit: Exit = {
    ...shared(entry, [kind, url.host, username].join(" ")),
    ...{ kind, url: `${kind}://${url.host}`, username, password, resolve: resolvedBy },
    label: `${kind === "socks5" && resolvedBy === "proxy" ? "socks5h" : kind}://${url.host}`,
    provider: entry.provider ?? url.hostname,
    ...(entry.environment === undefined ? {} : { scheme: entry.environment.scheme }),
  };
  return { exit, written: `${url.password} ${resolvedBy}` };
}

function gatewayOf(entry: ProxyEntry, resolve: Resolve): Resolved {
  const written = resolve(entry.url);
  const text = written.replace(/=((?:env|file):[^&#]+)/g, (_, reference: string) => {
    return `=${encodeURIComponent(resolve(decodeURIComponent(reference)))}`;
  });
  const { host, protocol, pathname } = parsed(entry, text);
  const exit: Exit = {
    ...shared(entry, ["gateway", host, pathname].join(" ")),
    ...{ kind: "gateway", label: `${protocol}//${host}`, url: text, username: "", password: "" },
    provider: entry.provider ?? host,
    resolve: entry.resolve ?? "here",
  };
  return { exit, written };
}

function shared({ tags, provider, region, cost, costPerGb }: ProxyEntry, identity: string) {
  const known = [provider, region].filter((tag) => tag !== undefined);
  const prices = { cost, costPerGb };
  return { id: hash("sha256", identity).slice(0, 12), tags: [...new Set([...tags, ...known])], region, ...prices };
}

function parsed(entry: ProxyEntry, text: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw invalid(entry, "is not a URL");
}

function invalid({ url }: ProxyEntry, problem: string): TrawlError {
  const name = parseSecretReference(url) === undefined ? "an entry of proxies" : `proxies: the value of ${url}`;
  const message = `${name} (TRAWL_PROXIES) ${problem}; write a URL such as http://user:password@host:8080`;
  return new TrawlError("BAD_CONFIG", { op: "config.exits", message });
}

function isKind(kind: string): kind is ExitKind {
  return kind !== "gateway" && (EXIT_KINDS as readonly string[]).includes(kind);
}
