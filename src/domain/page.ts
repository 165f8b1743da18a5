/** What was fetched: everything about one answer but its body. */
export type Page = {
  url: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  /** Body size after decompression. */
  bodyBytes: number;
  fetchedAt: number;
  /** From the first byte sent to the last byte read. */
  tookMs: number;
};

/** Extracted fields of one record, as the user named them. */
export type Fields = Record<string, unknown>;
