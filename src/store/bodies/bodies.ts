/** Where the bodies of pages are kept, apart from the rows that describe them. */
export interface Bodies {
  /** Keeps a body and answers with its reference, once it survives a power cut; undefined where none are kept. */
  put(body: Buffer): Promise<string | undefined>;
  /** The body of a reference; undefined if nothing is kept under it. */
  get(ref: string): Promise<Buffer | undefined>;
}
