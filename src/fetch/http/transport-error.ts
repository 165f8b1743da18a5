/**
 * Maps DNS, TCP, TLS and HTTP parser errors to outcomes. In the table of error codes, the first match decides.
 */
import type { DeadReason, RetryReason } from "../../domain/task.ts";
import { isTrawlError } from "../../errors.ts";
import { shortMessage } from "../../runtime/short-message.ts";
import { PROXY_FAILED, PROXY_NOT_CONNECTED } from "../egress/proxy-error.ts";

export type TransportFailure =
  | {
      kind: "retry";
      because: RetryReason;
      detail: string;
      /** Set if the proxy does not work at all. Otherwise it may work for other sites. */
      isProxyDown?: true;
      receivedBytes?: number;
    }
  | { kind: "dead"; because: DeadReason; detail: string; receivedBytes?: number };

/** The error code of a request that exceeds `limits.totalMs`. */
export const TOTAL_TIMEOUT = "TOTAL_TIMEOUT";

type Verdict = { kind: "retry"; because: RetryReason } | { kind: "dead"; because: DeadReason };

const DNS: Verdict = { kind: "retry", because: "dns" };
const TIMEOUT: Verdict = { kind: "retry", because: "timeout" };
const NETWORK: Verdict = { kind: "retry", because: "network" };
const PROXY: Verdict = { kind: "retry", because: "proxy" };
const BAD_RESPONSE: Verdict = { kind: "dead", because: "bad_response" };

const TRANSPORT_ERRORS: readonly { code: RegExp; verdict: Verdict; summary: string }[] = [
  { code: new RegExp(`^${PROXY_FAILED}$`), verdict: PROXY, summary: "the proxy failed" },
  { code: new RegExp(`^${PROXY_NOT_CONNECTED}$`), verdict: PROXY, summary: "the proxy did not connect to the site" },
  { code: /^(ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL)$/, verdict: DNS, summary: "the host name did not resolve" },
  { code: /^UND_ERR_CONNECT_TIMEOUT$/, verdict: TIMEOUT, summary: "no connection in time" },
  { code: /^ETIMEDOUT$/, verdict: TIMEOUT, summary: "no connection in time" },
  { code: /^UND_ERR_HEADERS_TIMEOUT$/, verdict: TIMEOUT, summary: "no response in time" },
  { code: /^UND_ERR_BODY_TIMEOUT$/, verdict: TIMEOUT, summary: "no further data in time" },
  { code: new RegExp(`^${TOTAL_TIMEOUT}$`), verdict: TIMEOUT, summary: "the response took too long" },
  // The end of the body is missing because the connection closed. A retry may succeed.
  {
    code: /^HPE_INVALID_EOF_STATE$/,
    verdict: NETWORK,
    summary: "the connection closed before the end of the response",
  },
  {
    code: /^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/,
    verdict: NETWORK,
    summary: "the body is shorter than its content-length",
  },
  { code: /^HPE_/, verdict: BAD_RESPONSE, summary: "the response is not HTTP" },
  { code: /^UND_ERR_HEADERS_OVERFLOW$/, verdict: BAD_RESPONSE, summary: "the response headers are too long" },
  {
    code: /CERT|SELF_SIGNED|^UNABLE_TO_|^INVALID_CA$|^INVALID_PURPOSE$|^HOSTNAME_MISMATCH$|^PATH_LENGTH_EXCEEDED$/,
    verdict: BAD_RESPONSE,
    summary: "the TLS certificate is not valid",
  },
  { code: /^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/, verdict: BAD_RESPONSE, summary: "the TLS handshake failed" },
  { code: /^ECONNREFUSED$/, verdict: NETWORK, summary: "connection refused" },
  { code: /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, verdict: NETWORK, summary: "connection closed" },
];

export function transportFailure(error: unknown): TransportFailure {
  if (isTrawlError(error, "EGRESS_REFUSED")) {
    return { kind: "dead", because: "egress_refused", detail: shortMessage(error.message) };
  }
  const code = codeOf(error);
  const row = TRANSPORT_ERRORS.find((candidate) => candidate.code.test(code));
  const summary = row?.summary ?? "the connection failed";
  const message = messageOf(error);
  // Most messages of Node contain the code.
  const isNamed = code === "" || code.startsWith("PROXY_") || message.includes(code);
  const cause = isNamed ? message : `${code}: ${message}`;
  const failure = { ...(row?.verdict ?? NETWORK), detail: shortMessage(`${summary} (${cause})`) };
  return failure.kind === "retry" && code === PROXY_FAILED ? { ...failure, isProxyDown: true } : failure;
}

/** Whether the connection was dropped. A stale idle connection fails like this. */
export function isBrokenConnection(error: unknown): boolean {
  return /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(codeOf(error));
}

/**
 * The code of an error. Some errors have no code: an AggregateError (all addresses of a host failed), and errors of
 * undici's HTTP parser.
 */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const { code, name, message }: NodeJS.ErrnoException = error;
  if (typeof code === "string") return code;
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  if (name !== "HTTPParserError") return "";
  return message.includes("EOF") ? "HPE_INVALID_EOF_STATE" : "HPE_INVALID";
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
