/** The pages per batch and records per page that writer-process.ts writes. */
export const BATCH_PAGES = 5;
export const PAGE_RECORDS = 3;
