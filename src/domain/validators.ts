/** Validators of a page (ETag, Last-Modified), for conditional requests. They are sent back unchanged or not at all. */
export type Validators = { etag: string | undefined; lastModified: string | undefined };

type Headers = Readonly<Record<string, string>>;

/** Longer values are ignored: they are mistakes of a server, and would be sent with every request. */
const MAX_LENGTH = 1_000;

/** Quoted, as the standard requires, or a single unquoted word, as some servers send it. Empty values are ignored. */
const ETAG = /^(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]+"|[\x21\x23-\x2b\x2d-\x7e]+)$/;

/** `Sun, 06 Nov 1994 08:49:37 GMT`, the required format. Other formats are ambiguous. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The resolution of Last-Modified. A page that changes twice within one second has the same date both times. */
const DATE_STEP_MS = 1_000;

/** The validators of a page that reliably detect a change. */
export function validatorsOf({ headers, fetchedAt }: { headers: Headers; fetchedAt: number }): Validators {
  const { etag, "last-modified": lastModified } = headers;
  const now = instantOf(headers.date) ?? fetchedAt;
  const modifiedAt = instantOf(lastModified);
  return {
    etag: etag !== undefined && etag.length <= MAX_LENGTH && ETAG.test(etag) ? etag : undefined,
    lastModified: modifiedAt !== undefined && modifiedAt <= now - DATE_STEP_MS ? lastModified : undefined,
  };
}

/** The request headers of a conditional request. */
export function conditionalHeaders({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(lastModified === undefined ? {} : { "if-modified-since": lastModified }),
  };
}

/** Whether a 304 response names another version than the request did. */
export function isContradicted(sent: Validators, headers: Headers): boolean {
  const { etag } = headers;
  return sent.etag !== undefined && etag !== undefined && withoutWeakness(etag) !== withoutWeakness(sent.etag);
}

function withoutWeakness(etag: string): string {
  return etag.replace(/^W\//, "");
}

function instantOf(date: string | undefined): number | undefined {
  if (date === undefined || !HTTP_DATE.test(date)) return undefined;
  const instant = Date.parse(date);
  return Number.isNaN(instant) ? undefined : instant;
}
