import { expect, it } from "vitest";
import { findPage } from "./pages.ts";
import { hrefOf, routeOf } from "./router.ts";

it("parses the addresses that hrefOf writes", () => {
  const path = ["jobs", "a/b c?d#e"];
  const query = { tab: "records", search: "100% & more" };

  expect(routeOf(hrefOf(path, query))).toEqual({ path, query });
  expect(hrefOf([], { tab: undefined, search: "" })).toBe("#/");
  expect(routeOf("")).toEqual({ path: [], query: {} });
  expect(routeOf("#/jobs/%E0%A4%A")).toEqual({ path: ["jobs", "%E0%A4%A"], query: {} });
});

it("finds the page for a path", () => {
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
