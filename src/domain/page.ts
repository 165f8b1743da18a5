/** A fetched page: the response without its body. */
export type Page = {
  url: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  /** Body size after decompression. */
  bodyBytes: number;
  fetchedAt: number;
  /** Time from the first byte sent to the last byte read. */
  tookMs: number;
};

/** The fields of one record, by the names that the user chose. */
export type Fields = Record<string, unknown>;
