import { expect, it } from "vitest";
import { truncatePreview } from "./truncate-preview.ts";

it("returns the first records unchanged, with the total counts", () => {
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
  ["a very long list", { numbers: Array.from({ length: 1_000_000 }, () => 1) }],
  ["many fields", Object.fromEntries(Array.from({ length: 50_000 }, (_, nth) => [`field-${nth}`, nth]))],
  ["an object that is nested very deep", JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`)],
])("truncates %s", (_, fields) => {
  const long = Array.from({ length: 5 }, () => fields);
  const cut = truncatePreview({
    records: long,
    invalid: long.map((one) => ({ fields: one, reason: "why" })),
    links: [],
  });

  expect(JSON.stringify(cut).length).toBeLessThan(1_000_000);
  expect(cut).toMatchObject({ recordCount: 5, invalidCount: 5 });
});
