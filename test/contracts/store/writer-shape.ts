/** What writer-process.ts writes: pages a batch, and records a page. */
export const BATCH_PAGES = 5;
export const PAGE_RECORDS = 3;
