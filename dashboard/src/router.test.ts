import { expect, it } from "vitest";
import { findPage } from "./pages.ts";
import { hrefOf, placeOf } from "./router.ts";

it("reads from an address what was written into it", () => {
  const path = ["jobs", "a/b c?d#e"];
  const query = { tab: "records", search: "100% & more" };

  expect(placeOf(hrefOf(path, query))).toEqual({ path, query });
  expect(hrefOf([], { tab: undefined, search: "" })).toBe("#/");
  expect(placeOf("")).toEqual({ path: [], query: {} });
  expect(placeOf("#/jobs/%E0%A4%A")).toEqual({ path: ["jobs", "%E0%A4%A"], query: {} });
});

it("finds the page of an address", () => {
  const pageAt = (...path: string[]) => {
    const found = findPage(path);
    return found && [found.page.path, ...found.rest];
  };

  expect(pageAt()).toEqual([""]);
  expect(pageAt("jobs")).toEqual(["jobs"]);
  expect(pageAt("jobs", "new")).toEqual(["jobs/new"]);
  expect(pageAt("jobs", "j1")).toEqual(["jobs/:id", "j1"]);
  expect(pageAt("sites", "a.example:8080")).toEqual(["sites/:id", "a.example:8080"]);
  expect(pageAt("dead", "more")).toEqual(["dead", "more"]);
  expect(pageAt("nothing")).toBeUndefined();
});
