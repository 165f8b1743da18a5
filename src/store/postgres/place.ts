/** Where a PostgreSQL store is: a server, a database, and in it a schema of its own. */
import { TrawlError } from "../../errors.ts";
import { decode, readCredentials } from "../../runtime/service-url.ts";

export type PostgresPlace = {
  host: string;
  port: number;
  database: string;
  /** Empty: the name of the user who runs this. */
  username: string;
  password: string;
  /** The namespace that all tables are in. */
  schema: string;
  /** As PostgreSQL's own programs mean it. */
  sslmode: (typeof SSL_MODES)[number];
  /** Files, as PEM: who may have signed the server's certificate, and our own certificate with its key. */
  tls: { ca: string; cert: string; key: string };
  /** For people: no password in it. */
  shown: string;
};

const USUAL_PORT = 5432;
const USUAL_SCHEMA = "trawl";
const SSL_MODES = ["disable", "prefer", "require", "verify-full"] as const;
/** What may stand behind a ? in the URL. */
const WORDS = ["schema", "sslmode", "ca", "cert", "key"];
/** What needs no quotes: whoever looks at the tables types it often. */
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/** Whether a URL names a PostgreSQL. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/i.test(url);
}

/** Throws BAD_CONFIG, without the password, for what is no such URL. */
export function parsePostgresPlace(url: string): PostgresPlace {
  // To the last @: a password that was not encoded may hold one itself, and a slash.
  const [, authority = "", server = "", database = "", query = ""] =
    /^postgres(?:ql)?:\/\/(.*@)?([^/?@]*)(?:\/([^?@]*))?(?:\?([^@]*))?$/is.exec(url) ?? [];
  const { host, port } = parseServer(server);
  if (database === "") throw badPlace("no database is named after the host");
  const { schema = USUAL_SCHEMA, sslmode, ca = "", cert = "", key = "" } = parseWords(query);
  if (!SCHEMA.test(schema) || schema.startsWith("pg_")) {
    throw badPlace("schema takes lower-case letters, digits and _, 63 at most, and not pg_ first; it is ", schema);
  }
  if ((cert === "") !== (key === "")) throw badPlace("cert and key are files that belong together: give both");
  const [username = "", password = ""] = readCredentials(authority);
  const name = decode(database);
  return {
    ...{ host, port, database: name, username, password, schema, tls: { ca, cert, key } },
    // Who names an authority wants the server's certificate looked at.
    sslmode: parseSslMode(sslmode ?? (ca === "" ? "prefer" : "verify-full")),
    shown: `postgres://${server}/${name}${schema === USUAL_SCHEMA ? "" : `?schema=${schema}`}`,
  };
}

function parseServer(text: string): { host: string; port: number } {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = portText === undefined ? USUAL_PORT : Number(portText);
  if (host === undefined || port < 1 || port > 65_535) throw badPlace("no host and port: ", JSON.stringify(text));
  return { host, port };
}

/** A word that would be passed over is refused: it may be the one that was to make things safe. */
function parseWords(query: string): Record<string, string> {
  const words = Object.fromEntries(new URLSearchParams(query));
  const unknown = Object.keys(words).filter((word) => !WORDS.includes(word));
  if (unknown.length === 0) return words;
  throw badPlace(`unknown after ?: ${unknown.join(", ")}; only ${WORDS.join(", ")} are taken there`);
}

function parseSslMode(text: string): PostgresPlace["sslmode"] {
  const mode = SSL_MODES.find((known) => known === text);
  if (mode === undefined) throw badPlace(`sslmode is one of ${SSL_MODES.join(", ")}; it is `, text);
  return mode;
}

function badPlace(...words: string[]): TrawlError {
  return new TrawlError("BAD_CONFIG", {
    op: "store.open",
    message: `TRAWL_STORE (postgres://…): ${words.join("")}; give postgres://user:password@host:5432/database`,
  });
}
