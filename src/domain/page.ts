/** What was fetched: everything about one answer but its body. */
export type Page = {
  url: string;
  /** Where it was after same-site redirects; equals `url` without them. */
  finalUrl: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  /** Body size after decompression. */
  bodyBytes: number;
  fetchedAt: number;
  /** From the first byte sent to the last byte read, of the last hop. */
  tookMs: number;
  redirects: readonly string[];
};

/** Extracted fields of one record, as the user named them. */
export type Fields = Record<string, unknown>;
