import type { Page } from "../../src/domain/page.ts";

/** A fetched page, for tests of the code that reads pages. */
export function aPage(contentType = "text/html; charset=utf-8"): Page {
  const url = "https://books.example/salt.html";
  return {
    url,
    contentType,
    status: 200,
    headers: {},
    bodyBytes: 0,
    fetchedAt: 0,
    tookMs: 0,
  };
}
