import { describe, expect, it } from "vitest";
import { pickType } from "./accept.ts";

const OFFERED = ["application/json", "application/x-ndjson", "text/csv"] as const;

describe("the media type of a response", () => {
  it.each([
    [undefined, "application/json"],
    ["", "application/json"],
    ["*/*", "application/json"],
    ["text/csv", "text/csv"],
    ["Application/X-NDJSON; charset=utf-8", "application/x-ndjson"],
    ["text/*", "text/csv"],
    ["text/html, application/xml;q=0.9, */*;q=0.8", "application/json"],
    ["text/csv;q=0.5, application/x-ndjson;q=0.9", "application/x-ndjson"],
    ["text/csv;q=0, */*", "application/json"],
    ["image/png", "application/json"],
    [";;;q=,,", "application/json"],
  ])("for Accept %j is %s", (accept, type) => {
    expect(pickType(accept, OFFERED)).toBe(type);
  });
});
