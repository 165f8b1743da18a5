/** The connection URL of a PostgreSQL store: server, database and schema. */
import { TrawlError } from "../../errors.ts";
import { decode, readCredentials } from "../../runtime/service-url.ts";

export type PostgresUrl = {
  host: string;
  port: number;
  database: string;
  /** Empty: the name of the operating system user. */
  username: string;
  password: string;
  /** The schema that contains all tables. */
  schema: string;
  /** As in libpq. */
  sslmode: (typeof SSL_MODES)[number];
  /** Paths of PEM files: CA certificates, client certificate and its key. */
  tls: { ca: string; cert: string; key: string };
  /** The URL without credentials, for messages. */
  shown: string;
};

const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = "trawl";
const SSL_MODES = ["disable", "prefer", "require", "verify-full"] as const;
/** Allowed query parameters of the URL. */
const PARAMETERS = ["schema", "sslmode", "ca", "cert", "key"];
/** Names that need no quotes in SQL. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/i.test(url);
}

/** Throws BAD_CONFIG for an invalid URL. The message does not contain the password. */
export function parsePostgresUrl(url: string): PostgresUrl {
  // The credentials end at the last @: a password that is not percent-encoded may contain @ and /.
  const [, authority = "", server = "", database = "", query = ""] =
    /^postgres(?:ql)?:\/\/(.*@)?([^/?@]*)(?:\/([^?@]*))?(?:\?([^@]*))?$/is.exec(url) ?? [];
  const { host, port } = parseServer(server);
  if (database === "") throw badUrl("there is no database name after the host");
  const { schema = DEFAULT_SCHEMA, sslmode, ca = "", cert = "", key = "" } = parseParameters(query);
  if (!SCHEMA.test(schema) || schema.startsWith("pg_")) {
    throw badUrl(
      "schema must have at most 63 lower-case letters, digits and _, and must not start with pg_; it is ",
      schema,
    );
  }
  if ((cert === "") !== (key === "")) throw badUrl("cert and key must be given together");
  const [username = "", password = ""] = readCredentials(authority);
  const name = decode(database);
  return {
    ...{ host, port, database: name, username, password, schema, tls: { ca, cert, key } },
    // A CA file implies that the certificate of the server is verified.
    sslmode: parseSslMode(sslmode ?? (ca === "" ? "prefer" : "verify-full")),
    shown: `postgres://${server}/${name}${schema === DEFAULT_SCHEMA ? "" : `?schema=${schema}`}`,
  };
}

function parseServer(text: string): { host: string; port: number } {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = portText === undefined ? DEFAULT_PORT : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) throw badUrl("invalid host and port: ", JSON.stringify(text));
  return { host, port };
}

/** Unknown parameters are an error: an ignored one could be a security setting. */
function parseParameters(query: string): Record<string, string> {
  const parameters = Object.fromEntries(new URLSearchParams(query));
  const unknown = Object.keys(parameters).filter((name) => !PARAMETERS.includes(name));
  if (unknown.length === 0) return parameters;
  throw badUrl(`unknown query parameters: ${unknown.join(", ")}; allowed are ${PARAMETERS.join(", ")}`);
}

function parseSslMode(text: string): PostgresUrl["sslmode"] {
  const mode = SSL_MODES.find((known) => known === text);
  if (mode === undefined) throw badUrl(`sslmode must be one of ${SSL_MODES.join(", ")}; it is `, text);
  return mode;
}

function badUrl(...parts: string[]): TrawlError {
  return new TrawlError("BAD_CONFIG", {
    op: "store.open",
    message: `TRAWL_STORE (postgres://…): ${parts.join("")}; use postgres://user:password@host:5432/database`,
  });
}
