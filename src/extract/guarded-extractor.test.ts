import { afterAll, expect, it } from "vitest";
import { createGuardedExtractor } from "./guarded-extractor.ts";

const options = { timeoutMs: 60_000, idleMs: 60_000, maxRequests: 3, maxRequestsPerCaller: 2 };
const guarded = createGuardedExtractor(options);
const hasty = createGuardedExtractor({ ...options, timeoutMs: 1_500 });
afterAll(() => Promise.all([guarded.stop(), hasty.stop()]));

const input = {
  page: {
    ...{ url: "https://a.example/", status: 200, headers: {}, contentType: "text/html" },
    ...{ bodyBytes: 0, fetchedAt: 0, tookMs: 0 },
  },
  html: `<h1>One</h1><a href="/two">2</a><p>${"a".repeat(40)}!</p>`,
};
const choice = { rules: { title: "h1" }, links: "a" };
const endless = { rules: { never: { select: "p", match: "^(a+)+$" } }, links: undefined };
const requester = { name: "one", signal: new AbortController().signal };
const another = { ...requester, name: "another" };

it("returns the result of the extractor, or its error", async () => {
  expect(await guarded.extract(choice, input, requester)).toEqual({
    ...{ records: [{ title: "One" }], invalid: [], links: ["https://a.example/two"] },
    ...{ recordCount: 1, invalidCount: 0, linkCount: 1 },
  });
  await expect(guarded.extract({ rules: { price: "a[" }, links: undefined }, input, requester)).rejects.toMatchObject({
    code: "BAD_SELECTOR",
    detail: { owner: 'field "price"' },
  });
});

it("limits the size of the result, however often the rules repeat the text of a page", async () => {
  const nested = `${"<div>".repeat(100)}${"x".repeat(200_000)}${"</div>".repeat(100)}`;

  const read = await guarded.extract(
    { rules: { all: ["div"] }, links: undefined },
    { ...input, html: nested },
    requester,
  );

  expect(JSON.stringify(read).length).toBeLessThan(1_000_000);
});

it("runs the next request after rules that never end", async () => {
  const [slow, next] = await Promise.allSettled([
    hasty.extract(endless, input, requester),
    hasty.extract(choice, input, requester),
  ]);

  expect(slow).toMatchObject({ status: "rejected", reason: { code: "EXTRACT_TIMEOUT" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { records: [{ title: "One" }] } });
});

it("limits the queued requests per caller and in total", async () => {
  const results = await Promise.allSettled(
    [requester, requester, requester, another, another].map((caller) => guarded.extract(choice, input, caller)),
  );

  const busy = { status: "rejected", reason: { code: "EXTRACT_BUSY", detail: { retryAfterMs: 60_000 } } };
  const read = { status: "fulfilled" };
  expect(results).toMatchObject([read, read, busy, read, busy]);
});

it("removes aborted requests from the queue, so that others fit in", async () => {
  const leaving = new AbortController();
  const first = guarded.extract(choice, input, requester);
  const left = guarded.extract(choice, input, { ...requester, signal: leaving.signal });
  leaving.abort("gone");

  await expect(left).rejects.toBe("gone");
  await expect(guarded.extract(choice, input, { ...requester, signal: leaving.signal })).rejects.toBe("gone");
  await expect(guarded.extract(choice, input, requester)).resolves.toMatchObject({ recordCount: 1 });
  await expect(first).resolves.toMatchObject({ recordCount: 1 });
});
