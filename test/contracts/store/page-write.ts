import type { Page } from "../../../src/domain/page.ts";
import type { AttemptWrite, PageWrite } from "../../../src/store/store.ts";

/** A page write as a crawl creates it. A test passes only the fields that it is about. */
export function aPageWrite({ page, ...parts }: Partial<Omit<PageWrite, "page">> & { page?: Partial<Page> }): PageWrite {
  const url = page?.url ?? `https://a.test/${parts.taskId ?? "task"}`;
  return {
    jobId: "job",
    taskId: "task",
    token: 1,
    depth: 0,
    run: { worker: "host/1", step: "fetch", attempt: 1, leasedAt: 1_700_000_000_000, endedAt: 1_700_000_000_020.5 },
    bodyRef: undefined,
    screenshotRef: undefined,
    pdfRef: undefined,
    records: [{ title: "one" }],
    invalid: [],
    ...parts,
    page: {
      url,
      status: 200,
      headers: { "content-type": "text/html" },
      contentType: "text/html",
      bodyBytes: 1234,
      fetchedAt: 1_700_000_000_000.25,
      tookMs: 12.5,
      ...page,
    },
  };
}

/** An attempt that ended without a page. */
export function anAttemptWrite(parts: Partial<AttemptWrite>): AttemptWrite {
  return {
    jobId: "job",
    taskId: "task",
    token: 1,
    url: "https://a.test/task",
    run: { worker: "host/1", step: "fetch", attempt: 1, leasedAt: 1_700_000_000_000, endedAt: 1_700_000_000_020.5 },
    outcome: "retry",
    because: "server_error",
    status: 500,
    detail: "answered 500",
    ...parts,
  };
}
