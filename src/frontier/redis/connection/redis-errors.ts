/**
 * Explains why a broker cannot be reached, in terms that an operator can act on. The messages of ioredis are written
 * for programmers who use that library.
 */
import type { RedisUrl } from "./connection-url.ts";
import { type Client, type ClusterNode, CONTACT_MS, NO_REASON_ERRORS, type Probe } from "./ioredis.ts";

const NO_ANSWER = `no answer within ${CONTACT_MS / 1000} s`;

/** Messages of the library, of Node or of a server, and their meaning. `$1` is the text that the pattern captured. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^connect ECONNREFUSED (\S+).*$/, "nothing listens at $1 (ECONNREFUSED)"],
  [/^getaddrinfo (ENOTFOUND|EAI_AGAIN) (\S+)$/, "the host name $2 cannot be resolved ($1)"],
  [/^connect ETIMEDOUT$/, `no connection within ${CONTACT_MS / 1000} s`],
  [/^(?:Command timed out|timeout)$/, NO_ANSWER],
  [/^Reached the max retries per request limit.*$/, "the connection broke before the reply arrived"],
  [/^ERR No such master with that name$/, "the sentinels know no master of that name"],
  [/^ERR This instance has cluster support disabled$/, "the server is not part of a cluster: use redis://"],
  [
    /^ERR unknown command '?sentinel'?.*$/is,
    "the server is not a sentinel: use the addresses of the sentinels, or redis:// and the address of the Redis server",
  ],
  [/^Protocol error, got .*$/s, "the server that answers there is not Redis"],
  [/^Ready check failed: (.*)$/, "$1"],
];

/**
 * Remembers why there is no connection, because the error of a failed command says only that there is none. Records the
 * errors that occur after this function is called. The returned function returns the last error, or undefined while
 * connected and before the first error.
 */
export function watchConnectionErrors(client: Client): () => Error | undefined {
  let last: { error: Error; by: string } | undefined;
  const note = (reported: unknown, by: string) => {
    // In a cluster, the last node's error is more specific than "all nodes failed".
    const error = (reported as { lastNodeError?: Error }).lastNodeError ?? (reported as Error);
    // The library first reports the reason. Its next error gives no reason: it says only that a command of the library
    // itself could not be sent.
    if (last === undefined || findMeaning(error) !== undefined) last = { error, by };
  };
  client.on("error", (error) => note(error, ""));
  client.on("ready", () => {
    last = undefined;
  });
  client.on("+node", (node: ClusterNode) => {
    // A node is identified by its address, because the library creates a new node object when a node reconnects. The
    // "ready" event of the cluster cannot be used: the cluster stays ready while a node is down.
    const by = `${node.options.host}:${node.options.port}`;
    node.on("error", (error) => note(error, by));
    node.on("ready", () => {
      if (last?.by === by) last = undefined;
    });
  });
  return () => last?.error;
}

/** Undefined if the error gives no reason. */
function findMeaning(error: Error): string | undefined {
  const [, last] = /^All sentinels are unreachable.*? Last error: (.*)$/s.exec(error.message) ?? [];
  const message = last ?? error.message;
  if (NO_REASON_ERRORS.some((start) => message.startsWith(start))) return undefined;
  const [pattern, meaning] = MEANINGS.find(([known]) => known.test(message)) ?? [];
  return pattern === undefined || meaning === undefined ? message : message.replace(pattern, meaning);
}

/** The meaning of the error, or "there is no connection" if it gives no reason. */
export function describeError(error: Error): string {
  return findMeaning(error) ?? "there is no connection";
}

/**
 * Probes the server itself, because the library's errors are not specific. For example, a port that expects TLS accepts
 * a plain connection and then sends nothing. Probes only the first server, and sends no password.
 */
export async function diagnose(
  { nodes: [node], tls }: Pick<RedisUrl, "nodes" | "tls">,
  error: Error,
  probe: Probe,
): Promise<string> {
  if (node === undefined) return describeError(error);
  const at = `${node.host}:${node.port}`;
  const plain = await probe(node, "plain");
  if (tls !== undefined && plain === "answers") {
    return `${at} does not use TLS: write redis instead of rediss, or use its TLS port`;
  }
  if (tls === undefined && plain === "silent" && (await probe(node, "tls")) === "answers") {
    return `${at} uses TLS: write rediss instead of redis`;
  }
  const meaning = findMeaning(error);
  if (meaning !== undefined && meaning !== NO_ANSWER) return meaning;
  if (plain === "silent") return `${at} accepts connections but does not answer`;
  return plain === "answers" ? describeError(error) : describeError(plain);
}
