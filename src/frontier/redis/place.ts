/** Where a Redis broker is: one server, a cluster, or a master that sentinels know. */
import { TrawlError } from "../../errors.ts";
import { readCredentials } from "../../runtime/service-url.ts";

export type RedisPlace = {
  kind: "single" | "cluster" | "sentinel";
  nodes: readonly { host: string; port: number }[];
  /** What the sentinels call the master. */
  master: string;
  database: number;
  username: string;
  password: string;
  /** Undefined: no TLS. Files, as PEM: who may have signed the server's certificate, and our own certificate with its key. */
  tls: { ca: string; cert: string; key: string } | undefined;
  /** Sentinels have users and passwords of their own. */
  sentinel: { username: string; password: string };
  /** For people: no password in it. */
  shown: string;
};

const SCHEMES: Record<string, { kind: RedisPlace["kind"]; tls: boolean; port: number }> = {
  redis: { kind: "single", tls: false, port: 6379 },
  rediss: { kind: "single", tls: true, port: 6379 },
  "redis+cluster": { kind: "cluster", tls: false, port: 6379 },
  "rediss+cluster": { kind: "cluster", tls: true, port: 6379 },
  "redis+sentinel": { kind: "sentinel", tls: false, port: 26379 },
  "rediss+sentinel": { kind: "sentinel", tls: true, port: 26379 },
};

/** What may stand behind a ? in the URL. */
const TLS_WORDS = ["ca", "cert", "key"];
const SENTINEL_WORDS = ["sentinelUser", "sentinelPassword"];

/** What kind of Redis a URL names; undefined where it names something else. */
export function findRedisScheme(url: string): { kind: RedisPlace["kind"] } | undefined {
  return schemeNamed(/^[a-z+]+(?=:)/i.exec(url)?.[0] ?? "");
}

/** Throws BAD_CONFIG, without the password, for what is no such URL. */
export function parseRedisPlace(url: string): RedisPlace {
  const [, name = "", authority = "", path = "", query = ""] =
    /^([a-z+]+):\/\/(.*@)?([^?@]*)(?:\?([^@]*))?$/is.exec(url) ?? [];
  const scheme = schemeNamed(name);
  if (scheme === undefined) throw badPlace(name, "its scheme is none of ", Object.keys(SCHEMES).join(", "));
  const [hosts = "", ...rest] = path.split("/");
  const [username = "", password = ""] = readCredentials(authority);
  const nodes = hosts.split(",").map((text) => parseNode(text, scheme.port, name));
  const master = scheme.kind === "sentinel" ? (rest.shift() ?? "") : "";
  if (scheme.kind === "sentinel" && master === "") throw badPlace(name, "the name of the master is missing after /");
  const database = rest[0] === undefined || rest[0] === "" ? 0 : Number(rest[0]);
  if (!Number.isInteger(database) || database < 0 || rest.length > 1) {
    throw badPlace(name, "what follows the host is no database number: ", rest.join("/"));
  }
  if (scheme.kind === "cluster" && database !== 0) throw badPlace(name, "a cluster has database 0 only");
  const hostsShown = nodes.map(({ host, port }) => `${host}:${port}`).join(",");
  const shown = `${name}://${[hostsShown, master, rest[0]].filter((part) => part).join("/")}`;
  const words = parseQuery(query, scheme, name);
  const { ca = "", cert = "", key = "", sentinelUser = "", sentinelPassword = "" } = words;
  return {
    kind: scheme.kind,
    nodes,
    master,
    database,
    username,
    password,
    tls: scheme.tls ? { ca, cert, key } : undefined,
    sentinel: { username: sentinelUser, password: sentinelPassword },
    shown,
  };
}

/** What an object has of its birth is no scheme: `constructor:` names none. */
function schemeNamed(name: string): (typeof SCHEMES)[string] | undefined {
  const lower = name.toLowerCase();
  return Object.hasOwn(SCHEMES, lower) ? SCHEMES[lower] : undefined;
}

/** A word that would be passed over is refused: it may be the one that was to make things safe. */
function parseQuery(query: string, { kind, tls }: { kind: string; tls: boolean }, scheme: string) {
  const allowed = [...(tls ? TLS_WORDS : []), ...(kind === "sentinel" ? SENTINEL_WORDS : [])];
  const words = Object.fromEntries(new URLSearchParams(query));
  const unknown = Object.keys(words).filter((word) => !allowed.includes(word));
  if (unknown.length > 0) {
    const takes = allowed.length === 0 ? "nothing is taken there" : `only ${allowed.join(", ")} are taken there`;
    throw badPlace(scheme, `unknown after ?: ${unknown.join(", ")}; with ${scheme}:// ${takes}`);
  }
  if ((words.cert === undefined) !== (words.key === undefined)) {
    throw badPlace(scheme, "cert and key are files that belong together: give both");
  }
  return words;
}

function parseNode(text: string, usualPort: number, scheme: string): { host: string; port: number } {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = portText === undefined ? usualPort : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) throw badPlace(scheme, "no host and port: ", text);
  return { host, port };
}

function badPlace(scheme: string, ...words: string[]): TrawlError {
  return new TrawlError("BAD_CONFIG", {
    op: "frontier.open",
    message: `TRAWL_BROKER (${scheme}://…): ${words.join("")}; give redis://host:6379/0, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/master`,
  });
}
