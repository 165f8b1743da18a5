import { expect, it } from "vitest";
import { truncatePreview } from "./truncate-preview.ts";

it("leaves what a person can look at as it is, and says how much there was", () => {
  const records = Array.from({ length: 60 }, (_, nth) => ({ nth, tags: ["a", { b: null }], text: "x".repeat(500) }));
  const invalid = [{ fields: { title: "" }, reason: "title is required" }];

  const cut = truncatePreview({ records, invalid, links: ["https://a.example/"] });

  expect(cut).toEqual({
    ...{ records: records.slice(0, 50), invalid, links: ["https://a.example/"] },
    ...{ recordCount: 60, invalidCount: 1, linkCount: 1 },
  });
});

it.each([
  ["one long text", { text: "x".repeat(50_000_000) }],
  ["many texts in one list", { texts: Array.from({ length: 100 }, () => "x".repeat(1_000_000)) }],
  ["a list without end", { numbers: Array.from({ length: 1_000_000 }, () => 1) }],
  ["many fields", Object.fromEntries(Array.from({ length: 50_000 }, (_, nth) => [`field-${nth}`, nth]))],
  ["what is deeper than a call may go", JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`)],
])("makes %s short", (_, fields) => {
  const long = Array.from({ length: 5 }, () => fields);
  const cut = truncatePreview({
    records: long,
    invalid: long.map((one) => ({ fields: one, reason: "why" })),
    links: [],
  });

  expect(JSON.stringify(cut).length).toBeLessThan(1_000_000);
  expect(cut).toMatchObject({ recordCount: 5, invalidCount: 5 });
});
