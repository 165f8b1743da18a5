/** Connection URLs of a Redis broker: a single server, a cluster, or a master behind sentinels. */
import { TrawlError } from "../../../errors.ts";
import { readCredentials } from "../../../runtime/service-url.ts";

export type RedisUrl = {
  kind: "single" | "cluster" | "sentinel";
  nodes: readonly { host: string; port: number }[];
  /** The name of the master in the sentinels' configuration. */
  master: string;
  database: number;
  username: string;
  password: string;
  /**
   * Undefined: no TLS. The fields are paths of PEM files: the trusted authorities, the client certificate, and its key.
   * "": not set.
   */
  tls: { ca: string; cert: string; key: string } | undefined;
  /** Sentinels have their own users and passwords. */
  sentinel: { username: string; password: string };
  /** The URL without user and password, for messages. */
  redacted: string;
};

const SCHEMES: Record<string, { kind: RedisUrl["kind"]; tls: boolean; port: number }> = {
  redis: { kind: "single", tls: false, port: 6379 },
  rediss: { kind: "single", tls: true, port: 6379 },
  "redis+cluster": { kind: "cluster", tls: false, port: 6379 },
  "rediss+cluster": { kind: "cluster", tls: true, port: 6379 },
  "redis+sentinel": { kind: "sentinel", tls: false, port: 26379 },
  "rediss+sentinel": { kind: "sentinel", tls: true, port: 26379 },
};

/** The parameters that the query of the URL may have. */
const TLS_PARAMETERS = ["ca", "cert", "key"];
const SENTINEL_PARAMETERS = ["sentinelUser", "sentinelPassword"];

/** The kind of Redis that a URL names; undefined for other URLs. */
export function findRedisScheme(url: string): { kind: RedisUrl["kind"] } | undefined {
  return schemeNamed(/^[a-z+]+(?=:)/i.exec(url)?.[0] ?? "");
}

/** Throws BAD_CONFIG for an invalid URL; the message does not contain the password. */
export function parseRedisUrl(url: string): RedisUrl {
  const [, name = "", authority = "", path = "", query = ""] =
    /^([a-z+]+):\/\/(.*@)?([^?@]*)(?:\?([^@]*))?$/is.exec(url) ?? [];
  const scheme = schemeNamed(name);
  if (scheme === undefined) throw badUrl(name, "the scheme must be one of ", Object.keys(SCHEMES).join(", "));
  const [hosts = "", ...rest] = path.split("/");
  const [username = "", password = ""] = readCredentials(authority);
  const nodes = hosts.split(",").map((text) => parseNode(text, scheme.port, name));
  const master = scheme.kind === "sentinel" ? (rest.shift() ?? "") : "";
  if (scheme.kind === "sentinel" && master === "") throw badUrl(name, "the name of the master is missing after /");
  const database = rest[0] === undefined || rest[0] === "" ? 0 : Number(rest[0]);
  if (!Number.isInteger(database) || database < 0 || rest.length > 1) {
    throw badUrl(name, "not a database number: ", rest.join("/"));
  }
  if (scheme.kind === "cluster" && database !== 0) throw badUrl(name, "a cluster has only database 0");
  const hostsShown = nodes.map(({ host, port }) => `${host}:${port}`).join(",");
  const redacted = `${name}://${[hostsShown, master, rest[0]].filter((part) => part).join("/")}`;
  const parameters = parseQuery(query, scheme, name);
  const { ca = "", cert = "", key = "", sentinelUser = "", sentinelPassword = "" } = parameters;
  return {
    kind: scheme.kind,
    nodes,
    master,
    database,
    username,
    password,
    tls: scheme.tls ? { ca, cert, key } : undefined,
    sentinel: { username: sentinelUser, password: sentinelPassword },
    redacted,
  };
}

/** Uses hasOwn, so that inherited names such as `constructor` are not accepted as schemes. */
function schemeNamed(name: string): (typeof SCHEMES)[string] | undefined {
  const lower = name.toLowerCase();
  return Object.hasOwn(SCHEMES, lower) ? SCHEMES[lower] : undefined;
}

/**
 * Refuses unknown parameters instead of ignoring them: a misspelt parameter may be one that makes the connection
 * secure.
 */
function parseQuery(query: string, { kind, tls }: { kind: string; tls: boolean }, scheme: string) {
  const allowed = [...(tls ? TLS_PARAMETERS : []), ...(kind === "sentinel" ? SENTINEL_PARAMETERS : [])];
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const unknown = Object.keys(parameters).filter((name) => !allowed.includes(name));
  if (unknown.length > 0) {
    const takes = allowed.length === 0 ? "takes no parameters" : `takes only ${allowed.join(", ")}`;
    throw badUrl(scheme, `unknown parameter ${unknown.join(", ")}; ${scheme}:// ${takes}`);
  }
  if ((parameters.cert === undefined) !== (parameters.key === undefined)) {
    throw badUrl(scheme, "cert and key belong together: set both");
  }
  return parameters;
}

function parseNode(text: string, defaultPort: number, scheme: string): { host: string; port: number } {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = portText === undefined ? defaultPort : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) throw badUrl(scheme, "not a host and port: ", text);
  return { host, port };
}

function badUrl(scheme: string, ...parts: string[]): TrawlError {
  return new TrawlError("BAD_CONFIG", {
    op: "frontier.open",
    message: `TRAWL_BROKER (${scheme}://…): ${parts.join("")}; use redis://host:6379/0, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/master`,
  });
}
