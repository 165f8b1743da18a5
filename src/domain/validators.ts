/** What a server gave to ask later whether a page is still the same: sent back as it came, or not at all. */
export type Validators = { etag: string | undefined; lastModified: string | undefined };

type Headers = Readonly<Record<string, string>>;

/** Longer ones are somebody's mistake, and would be sent with every request. */
const LENGTH_MOST = 1_000;

/** Quoted, as it should be, or one bare word, as some servers have it. An empty one says nothing. */
const ETAG = /^(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]+"|[\x21\x23-\x2b\x2d-\x7e]+)$/;

/** `Sun, 06 Nov 1994 08:49:37 GMT`: what servers must send. Others would be guesses. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** A page that changes twice within the second of its date looks the same both times. */
const DATE_STEP_MS = 1_000;

/** What of a page's headers can be trusted to tell a changed page from the same. */
export function validatorsOf({ headers, fetchedAt }: { headers: Headers; fetchedAt: number }): Validators {
  const { etag, "last-modified": lastModified } = headers;
  const now = instantOf(headers.date) ?? fetchedAt;
  const modifiedAt = instantOf(lastModified);
  return {
    etag: etag !== undefined && etag.length <= LENGTH_MOST && ETAG.test(etag) ? etag : undefined,
    lastModified: modifiedAt !== undefined && modifiedAt <= now - DATE_STEP_MS ? lastModified : undefined,
  };
}

/** How they are sent. */
export function conditionalHeaders({ etag, lastModified }: Validators): Record<string, string> {
  return {
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(lastModified === undefined ? {} : { "if-modified-since": lastModified }),
  };
}

/** Whether an answer that says "unchanged" names another version than the one that was asked about. */
export function isContradicted(asked: Validators, headers: Headers): boolean {
  const { etag } = headers;
  return asked.etag !== undefined && etag !== undefined && withoutWeakness(etag) !== withoutWeakness(asked.etag);
}

function withoutWeakness(etag: string): string {
  return etag.replace(/^W\//, "");
}

function instantOf(date: string | undefined): number | undefined {
  if (date === undefined || !HTTP_DATE.test(date)) return undefined;
  const instant = Date.parse(date);
  return Number.isNaN(instant) ? undefined : instant;
}
