/** Why a broker cannot be reached, in words for whoever has to mend it. What the client library says is for its users, not ours. */
import { type Client, type ClusterNode, CONTACT_MS, type Probe, SAYS_NOT_WHY } from "./connect.ts";
import type { RedisPlace } from "./place.ts";

const NO_ANSWER = `no answer within ${CONTACT_MS / 1000} s`;

/** What the library, Node or a server says, and what it means; `$1` is what the pattern has caught. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^connect ECONNREFUSED (\S+).*$/, "nobody listens at $1 (ECONNREFUSED)"],
  [/^getaddrinfo (ENOTFOUND|EAI_AGAIN) (\S+)$/, "the name $2 leads nowhere ($1)"],
  [/^connect ETIMEDOUT$/, `no connection within ${CONTACT_MS / 1000} s`],
  [/^(?:Command timed out|timeout)$/, NO_ANSWER],
  [/^Reached the max retries per request limit.*$/, "the connection broke before the answer came"],
  [/^ERR No such master with that name$/, "the sentinels know no master of that name"],
  [/^ERR This instance has cluster support disabled$/, "the server is not part of a cluster: name it with redis://"],
  [
    /^ERR unknown command '?sentinel'?.*$/is,
    "the server is no sentinel: name the sentinels, or the server with redis://",
  ],
  [/^Protocol error, got .*$/s, "what answers there is no Redis"],
  [/^Ready check failed: (.*)$/, "$1"],
];

/**
 * Why there is no connection, where the client has been told: a call only hears that there is none. Begins to listen when
 * it is made; the answer is undefined while connected, and before anything went wrong.
 */
export function createTroubleEar(client: Client): () => Error | undefined {
  let trouble: { said: Error; by: string } | undefined;
  const note = (error: unknown, by: string) => {
    // Of a cluster the last node's error says more than that all of them failed.
    const said = (error as { lastNodeError?: Error }).lastNodeError ?? (error as Error);
    // The library tells first why, and then that a command of its own could not be sent.
    if (trouble === undefined || findMeaning(said) !== undefined) trouble = { said, by };
  };
  client.on("error", (error) => note(error, ""));
  client.on("ready", () => {
    trouble = undefined;
  });
  client.on("+node", (node: ClusterNode) => {
    // By its place: a node that comes back is a new one to the library, and the cluster itself was ready all the while.
    const by = `${node.options.host}:${node.options.port}`;
    node.on("error", (error) => note(error, by));
    node.on("ready", () => {
      if (trouble?.by === by) trouble = undefined;
    });
  });
  return () => trouble?.said;
}

/** Undefined where the error does not tell why. */
function findMeaning(error: Error): string | undefined {
  const [, last] = /^All sentinels are unreachable.*? Last error: (.*)$/s.exec(error.message) ?? [];
  const message = last ?? error.message;
  if (SAYS_NOT_WHY.some((words) => message.startsWith(words))) return undefined;
  const [pattern, words] = MEANINGS.find(([known]) => known.test(message)) ?? [];
  return pattern === undefined || words === undefined ? message : message.replace(pattern, words);
}

/** The meaning, or that there is no connection. */
export function troubleWords(error: Error): string {
  return findMeaning(error) ?? "there is no connection";
}

/**
 * Looks for itself what is at the place, since the library's errors tell little: a port of the other kind, say, takes
 * the connection and then is silent. Asks the first server only; no password is sent.
 */
export async function diagnose(
  { nodes: [node], tls }: Pick<RedisPlace, "nodes" | "tls">,
  trouble: Error,
  probe: Probe,
): Promise<string> {
  if (node === undefined) return troubleWords(trouble);
  const at = `${node.host}:${node.port}`;
  const plain = await probe(node, "plain");
  if (tls !== undefined && plain === "answers") {
    return `${at} does not speak TLS: write redis in place of rediss, or name its TLS port`;
  }
  if (tls === undefined && plain === "silent" && (await probe(node, "tls")) === "answers") {
    return `${at} speaks TLS: write rediss in place of redis`;
  }
  const meaning = findMeaning(trouble);
  if (meaning !== undefined && meaning !== NO_ANSWER) return meaning;
  if (plain === "silent") return `${at} takes connections and does not answer`;
  return plain === "answers" ? troubleWords(trouble) : troubleWords(plain);
}
