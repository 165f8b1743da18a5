/** Records and pages over HTTP: page by page, or all in one stream with backpressure. */
import { setTimeout as sleep } from "node:timers/promises";
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { aPageWrite } from "../contracts/store/page-write.ts";
import { waitUntil } from "../services/wait-until.ts";
import { type Api, startApi } from "./harness.ts";

describe("the records of a job", () => {
  it("are read page by page, and continue from a cursor while the job runs", async () => {
    const { request, trawl, id } = await withJob();
    await write(trawl, id, 5);

    const first = await request("GET", `/v1/jobs/${id}/records?limit=3`);
    const rest = await request("GET", `/v1/jobs/${id}/records?limit=3&cursor=${first.json.next}`);
    await write(trawl, id, 1, 5);
    const later = await request("GET", `/v1/jobs/${id}/records?cursor=${rest.json.after}`);

    expect([first, rest, later].map(({ json }) => titlesIn(json.records))).toEqual([[0, 1, 2], [3, 4], [5]]);
    expect(rest.json.next).toBeNull();
    expect((first.json.records as unknown as object[])[0]).toEqual({
      ...{ title: 0, _url: "https://a.test/0", _status: 200, _job: id, _depth: 0 },
      _fetchedAt: "2023-11-14T22:13:20.000Z",
    });
  });

  it.each([
    ["by Accept", "", { accept: "application/x-ndjson" }],
    ["by parameter", "?format=ndjson", {}],
  ])("are streamed as JSON lines, selected %s", async (_, query, headers: Record<string, string>) => {
    const { request, trawl, id } = await withJob();
    await write(trawl, id, 1_203);

    const answer = await request("GET", `/v1/jobs/${id}/records${query}`, undefined, headers);

    expect(answer.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    const lines = String(answer.json.text ?? "")
      .trimEnd()
      .split("\n");
    expect(titlesIn(lines.map((line) => JSON.parse(line)))).toEqual(Array.from({ length: 1_203 }, (__, nth) => nth));
  });

  it("are exported as CSV with the fields of all records", async () => {
    const { request, trawl, id } = await withJob();
    await trawl.store.write([
      aPageWrite({ jobId: id, taskId: "1", records: [{ title: "a" }] }),
      aPageWrite({ jobId: id, taskId: "2", records: [{ price: "=1+1" }] }),
    ]);

    const answer = await request("GET", `/v1/jobs/${id}/records`, undefined, { accept: "text/csv" });

    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${id}-records.csv"`);
    const [header, one, two] = String(answer.json.text).split("\r\n");
    expect(header).toBe("title,price,_url,_status,_fetchedAt,_job,_depth");
    expect(one).toMatch(/^a,,https:/);
    expect(two).toMatch(/^,'=1\+1,https:/);
  });

  it.each([
    ["by Accept", "", { accept: "application/vnd.apache.parquet" }],
    ["by parameter", "?format=parquet", {}],
  ])("are exported as Parquet, selected %s, in as many row groups as needed", async (_, query, headers) => {
    const { url, trawl, id } = await withJob();
    // Two records fill a row group: bytes of the first group are still unsent when the second begins.
    for (let from = 0; from < 4; from += 1) await write(trawl, id, 1, from, String(from).repeat(9_000_000));

    const answer = await fetch(`${url}/v1/jobs/${id}/records${query}`, { headers: headers as Record<string, string> });

    expect(answer.headers.get("content-type")).toBe("application/vnd.apache.parquet");
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${id}-records.parquet"`);
    const file = await answer.arrayBuffer();
    expect((await parquetMetadataAsync(file)).row_groups).toHaveLength(2);
    const rows = (await parquetReadObjects({ file })) as { title: number; text: string; _url: string }[];
    expect(rows.map(({ title, text, _url }) => [title, text.slice(-1), text.length, _url])).toEqual(
      [0, 1, 2, 3].map((nth) => [nth, String(nth), 9_000_000, `https://a.test/${nth}`]),
    );
  });

  it("break the connection if the store fails, so that the output does not look complete", async () => {
    const { url, trawl, id } = await withJob();
    await write(trawl, id, 1_500);
    const read = trawl.store.readRecords;
    let calls = 0;
    trawl.store.readRecords = async (...args) => {
      calls += 1;
      if (calls === 3) throw new Error("disk failure");
      return read(...args);
    };

    const answer = await fetch(`${url}/v1/jobs/${id}/records?format=ndjson`);

    await expect(answer.text()).rejects.toThrow(/terminated/);
  });

  it("continue from the id of any record", async () => {
    const { request, trawl, id } = await withJob();
    await write(trawl, id, 5);

    const all = await request("GET", `/v1/jobs/${id}/records`);
    const ids = all.json.ids as unknown as number[];
    const rest = await request("GET", `/v1/jobs/${id}/records?afterId=${ids[2]}`);

    expect(ids).toEqual([...ids].sort((one, other) => one - other));
    expect(titlesIn(rest.json.records)).toEqual([3, 4]);
    expect(rest.json.ids).toEqual(ids.slice(3));
  });

  it("that do not match their schema are listed with the reason", async () => {
    const { request, trawl, id } = await withJob();
    const invalid = [0, 1, 2].map((nth) => ({ fields: { nth }, reason: `too ${nth}` }));
    await trawl.store.write([aPageWrite({ jobId: id, taskId: "1", records: [], invalid })]);

    const first = await request("GET", `/v1/jobs/${id}/invalid?limit=2`);
    const rest = await request("GET", `/v1/jobs/${id}/invalid?limit=2&cursor=${first.json.next}`);

    expect([first, rest].flatMap(({ json }) => json.invalid)).toMatchObject([
      { nth: 0, _reason: "too 0" },
      { nth: 1, _reason: "too 1" },
      { nth: 2, _reason: "too 2", _url: expect.stringMatching(/^https:/) },
    ]);
    expect(rest.json.next).toBeNull();
  });

  it("are not read faster than the client reads, nor after it has disconnected", async () => {
    const { url, trawl, id } = await withJob();
    for (let from = 0; from < 8_000; from += 500) await write(trawl, id, 500, from, "x".repeat(10_000));
    const { readRecords } = trawl.store;
    let reads = 0;
    trawl.store.readRecords = (...args) => {
      reads += 1;
      return readRecords.call(trawl.store, ...args);
    };
    const controller = new AbortController();

    const answer = await fetch(`${url}/v1/jobs/${id}/records?format=ndjson`, { signal: controller.signal });
    const reader = answer.body?.getReader();
    await reader?.read();
    expect(await waitUntil(() => isStable(() => reads), 10_000)).toBe(true);
    expect(reads).toBeLessThan(8); // of 17 batches: as many as the sockets buffer, and one more
    controller.abort();
    expect(await waitUntil(() => isStable(() => reads), 10_000)).toBe(true);
    expect(reads).toBeLessThan(10);
  });

  it("are not searched after the client has disconnected, and neither are pages", async () => {
    const { url, trawl, id } = await withJob();
    await write(trawl, id, 1);
    const { store } = trawl;
    const [[record], [page]] = await Promise.all([store.readRecords(id, 0, 1), store.readPages(id, 0, 1)]);
    if (record === undefined || page === undefined) throw new Error("the written record or page is missing");
    let reads = 0;
    let rows = 250;
    // The store always returns another batch, without a match.
    const more = <T extends { id: number }>(one: T, afterId: number): T[] => {
      reads += 1;
      return Array.from({ length: rows }, (_, nth) => ({ ...one, id: afterId + 1 + nth }));
    };
    store.readRecords = async (_, afterId) => more(record, afterId);
    store.readPages = async (_, afterId) => more(page, afterId);

    for (const what of ["records", "pages"]) {
      reads = 0;
      const controller = new AbortController();
      const answer = fetch(`${url}/v1/jobs/${id}/${what}?format=ndjson&q=nowhere`, { signal: controller.signal });
      await waitUntil(() => reads > 0, 10_000);
      controller.abort();
      await expect(answer).rejects.toThrow();
      const hasEnded = await waitUntil(() => isStable(() => reads), 5_000);
      if (!hasEnded) rows = 0; // otherwise the search would never end
      expect(hasEnded, what).toBe(true);
    }
  });
});

describe("the pages of a job", () => {
  it("are listed as JSON, JSON lines and CSV, with the names of their stored files", async () => {
    const { request, trawl, id } = await withJob();
    const bodyRef = await trawl.bodies.put(Buffer.from("<script>alert(1)</script>"));
    await trawl.store.write([aPageWrite({ jobId: id, taskId: "1", bodyRef }), aPageWrite({ jobId: id, taskId: "2" })]);

    const { json } = await request("GET", `/v1/jobs/${id}/pages`);
    const lines = await request("GET", `/v1/jobs/${id}/pages?format=ndjson`);
    const csv = await request("GET", `/v1/jobs/${id}/pages?format=csv`);

    expect(json.pages).toMatchObject([
      { taskId: "1", url: "https://a.test/1", status: 200, kept: ["body"], fetchedAt: "2023-11-14T22:13:20.000Z" },
      { taskId: "2", kept: [] },
    ]);
    const asLines = String(lines.json.text).trimEnd().split("\n");
    expect(asLines.map((line) => JSON.parse(line))).toEqual(json.pages);
    expect(String(csv.json.text).split("\r\n")).toHaveLength(4);
  });

  it("return the body as the site sent it, with headers that stop a browser from rendering it", async () => {
    const { request, trawl, id } = await withJob();
    const bodyRef = await trawl.bodies.put(Buffer.from("<script>alert(1)</script>"));
    const contentType = "text/html; charset=utf-8";
    await trawl.store.write([
      aPageWrite({ jobId: id, taskId: "1", bodyRef, page: { contentType } }),
      aPageWrite({ jobId: id, taskId: "2", bodyRef, page: { contentType: "text/html\r\nset-cookie: a=b" } }),
    ]);
    const pages = await trawl.store.readPages(id, 0, 10);

    const [html, odd] = await Promise.all(pages.map((page) => request("GET", `/v1/pages/${page.id}/body`)));

    expect(html?.status).toBe(200);
    expect(html?.json.text).toBe("<script>alert(1)</script>");
    expect(Object.fromEntries(html?.headers ?? [])).toMatchObject({
      "content-type": contentType,
      "x-content-type-options": "nosniff",
      "content-disposition": `attachment; filename="page-${pages[0]?.id}.body"`,
      "content-security-policy": expect.stringMatching(/^sandbox;/),
    });
    expect(odd?.headers.get("content-type")).toBe("application/octet-stream");
    expect(odd?.headers.get("set-cookie")).toBeNull();
  });

  it("return why there is no body, screenshot or page", async () => {
    const { request, trawl, id } = await withJob();
    await trawl.store.write([aPageWrite({ jobId: id, taskId: "1", bodyRef: `sha256:${"0".repeat(64)}` })]);
    const [page] = await trawl.store.readPages(id, 0, 1);

    const answer = await Promise.all(
      [`${page?.id}/body`, `${page?.id}/screenshot`, "999999/body"].map((path) => request("GET", `/v1/pages/${path}`)),
    );

    expect(answer.map(({ status, json }) => [status, json.code])).toEqual(Array(3).fill([404, "NOT_FOUND"]));
    const details = answer.map(({ json }) => String(json.detail));
    expect(details[0]).toMatch(/no longer in the body storage/);
    expect(details[1]).toMatch(/browser\.screenshot/);
    expect(details[2]).toMatch(/no page 999999/);
    expect(await request("GET", "/v1/pages/x/body")).toMatchObject({ status: 400 });
  });
});

async function withJob(): Promise<Api & { id: string }> {
  const api = await startApi();
  const { json } = await api.request("POST", "/v1/jobs", { open: true });
  return { ...api, id: String(json.id) };
}

function write(trawl: Api["trawl"], jobId: string, count: number, from = 0, text?: string) {
  const pages = Array.from({ length: count }, (_, nth) => {
    const record = { title: from + nth, ...(text === undefined ? {} : { text }) };
    return aPageWrite({ jobId, taskId: String(from + nth), records: [record] });
  });
  return trawl.store.write(pages);
}

function titlesIn(records: unknown): unknown[] {
  return (records as { title: unknown }[]).map(({ title }) => title);
}

async function isStable(count: () => number): Promise<boolean> {
  const before = count();
  await sleep(300);
  return count() === before;
}
