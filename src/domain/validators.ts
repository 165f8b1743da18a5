/** What a server gave to ask later whether a page is still the same: sent back as it came, or not at all. */
export type Validators = { etag: string | undefined; lastModified: string | undefined };
