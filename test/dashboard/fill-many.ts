/** Fills a stage with more rows than a table can scroll without virtualization. */
import { join } from "node:path";
import type { Page } from "../../src/domain/page.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-sqlite-store.ts";
import type { PageWrite } from "../../src/store/store.ts";
import type { Stage } from "./stage.ts";

export type ManyJobs = {
  /** Has `rows` pages with one record each. */
  crawl: string;
  /** Has one URL at each of `rows` sites. */
  sites: string;
};

const BATCH = 1_000;
const AT_ONCE = 16;

/** Most of the time is spent on creating the jobs, which takes one request each. */
export async function fillMany(stage: Stage, { rows, jobs }: { rows: number; jobs: number }): Promise<ManyJobs> {
  const { api, folder } = stage;
  const sites = await api.submit({
    name: "Many sites",
    urls: Array.from({ length: rows }, (_, nth) => `http://site-${nth}.example/`),
    queue: "unserved",
  });
  const crawl = await api.submit({ name: "Many records", open: true });
  const store = openSqliteStore(join(folder, ".trawl/store.db"), { busyMs: 5_000 });
  for (let from = 0; from < rows; from += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, rows - from) }, (_, nth) => from + nth);
    await store.write(numbers.map((nth) => pageOf(crawl.id, nth)));
  }
  await store.close();
  const names = Array.from({ length: jobs }, (_, nth) => `Job ${nth + 1} of many`);
  const submitNext = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await api.submit({ name, open: true });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, submitNext));
  return { crawl: crawl.id, sites: sites.id };
}

function pageOf(jobId: string, nth: number): PageWrite {
  const url = `http://site-${nth % 50}.example/product/${nth}`;
  const page: Page = {
    ...{ url, status: 200, headers: { "content-type": "text/html" }, contentType: "text/html" },
    ...{ bodyBytes: 20_000 + nth, fetchedAt: Date.now() - nth, tookMs: 50 + (nth % 400) },
  };
  return {
    ...{ jobId, taskId: String(nth + 1), token: 1, depth: 1, page, run: undefined, invalid: [] },
    ...{ bodyRef: undefined, screenshotRef: undefined, pdfRef: undefined },
    records: [
      {
        title: `Product ${nth}`,
        price: nth / 100,
        sku: `S-${nth}`,
        tags: ["a", "b"],
        stock: nth % 7 === 0 ? null : nth,
      },
    ],
  };
}
