import { afterAll, expect, it } from "vitest";
import { createGuardedExtractor } from "./guarded-extractor.ts";

const options = { timeoutMs: 60_000, idleMs: 60_000, ordersMost: 3, ordersOfOneMost: 2 };
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
const asker = { name: "one", signal: new AbortController().signal };
const another = { ...asker, name: "another" };

it("reads as an extractor does", async () => {
  expect(await guarded.extract(choice, input, asker)).toEqual({
    ...{ records: [{ title: "One" }], invalid: [], links: ["https://a.example/two"] },
    ...{ recordCount: 1, invalidCount: 0, linkCount: 1 },
  });
  await expect(guarded.extract({ rules: { price: "a[" }, links: undefined }, input, asker)).rejects.toMatchObject({
    code: "BAD_SELECTOR",
    detail: { owner: 'field "price"' },
  });
});

it("sends no more than a person looks at, however often the rules have the text of a page", async () => {
  const nested = `${"<div>".repeat(100)}${"x".repeat(200_000)}${"</div>".repeat(100)}`;

  const read = await guarded.extract({ rules: { all: ["div"] }, links: undefined }, { ...input, html: nested }, asker);

  expect(JSON.stringify(read).length).toBeLessThan(1_000_000);
});

it("goes on where rules take for ever", async () => {
  const [slow, next] = await Promise.allSettled([
    hasty.extract(endless, input, asker),
    hasty.extract(choice, input, asker),
  ]);

  expect(slow).toMatchObject({ status: "rejected", reason: { code: "EXTRACT_TIMEOUT" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { records: [{ title: "One" }] } });
});

it("takes on a few orders of each, and no more than it may in all", async () => {
  const asked = await Promise.allSettled(
    [asker, asker, asker, another, another].map((who) => guarded.extract(choice, input, who)),
  );

  const busy = { status: "rejected", reason: { code: "EXTRACT_BUSY", detail: { retryAfterMs: 60_000 } } };
  const read = { status: "fulfilled" };
  expect(asked).toMatchObject([read, read, busy, read, busy]);
});

it("forgets the orders of those who have gone, and has room for others", async () => {
  const leaving = new AbortController();
  const first = guarded.extract(choice, input, asker);
  const left = guarded.extract(choice, input, { ...asker, signal: leaving.signal });
  leaving.abort("gone");

  await expect(left).rejects.toBe("gone");
  await expect(guarded.extract(choice, input, { ...asker, signal: leaving.signal })).rejects.toBe("gone");
  await expect(guarded.extract(choice, input, asker)).resolves.toMatchObject({ recordCount: 1 });
  await expect(first).resolves.toMatchObject({ recordCount: 1 });
});
