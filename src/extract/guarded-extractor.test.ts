import { afterAll, expect, it } from "vitest";
import { createGuardedExtractor } from "./guarded-extractor.ts";

const guarded = createGuardedExtractor({ timeoutMs: 300, idleMs: 60_000, waitingMost: 3 });
afterAll(() => guarded.stop());

const input = {
  page: {
    ...{ url: "https://a.example/", status: 200, headers: {}, contentType: "text/html" },
    ...{ bodyBytes: 0, fetchedAt: 0, tookMs: 0 },
  },
  html: `<h1>One</h1><a href="/two">2</a><p>${"a".repeat(40)}!</p>`,
};
const choice = { rules: { title: "h1" }, links: "a" };
const endless = { rules: { never: { select: "p", match: "^(a+)+$" } }, links: undefined };

it("reads as an extractor does, and goes on where rules take for ever or are none", async () => {
  const one = await guarded.extract(choice, input);
  expect(one).toMatchObject({ records: [{ title: "One" }], invalid: [], links: ["https://a.example/two"] });

  let turns = 0;
  const turning = setInterval(() => (turns += 1), 10);
  const [slow, next] = await Promise.allSettled([guarded.extract(endless, input), guarded.extract(choice, input)]);
  clearInterval(turning);

  expect(slow).toMatchObject({ status: "rejected", reason: { code: "EXTRACT_TIMEOUT" } });
  expect(next).toMatchObject({ status: "fulfilled", value: one });
  expect(turns).toBeGreaterThan(3); // nobody else waited meanwhile
  await expect(guarded.extract({ rules: { price: "a[" }, links: undefined }, input)).rejects.toMatchObject({
    code: "BAD_SELECTOR",
    detail: { owner: 'field "price"' },
  });
});

it("takes on no more than it may", async () => {
  const asked = await Promise.allSettled(Array.from({ length: 5 }, () => guarded.extract(choice, input)));

  expect(asked.map(({ status }) => status)).toEqual([
    ...["fulfilled", "fulfilled", "fulfilled"],
    ...["rejected", "rejected"],
  ]);
});
