/** The OpenAPI document and its page: complete, and small enough to read. */
import { expect, it } from "vitest";
import { ERRORS } from "../../src/errors.ts";
import { startApi } from "./harness.ts";

const KB = 1024;

it("defines every name once, and every reference in the document and on the page has a target", async () => {
  const { request } = await startApi();
  const { json } = await request("GET", "/openapi.json");
  const page = String((await request("GET", "/docs")).json.text);

  const { schemas } = json.components as unknown as { schemas: Record<string, unknown> };
  const names = [...JSON.stringify(json).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(new Set(names)).toEqual(new Set(Object.keys(schemas)));
  for (const name of Object.keys(schemas)) expect(page).toContain(`<div id="${name}">`);
  expect(JSON.stringify(json)).not.toContain("$defs");
  // Without shared definitions the document was 5 times, and the page 20 times as large.
  expect(JSON.stringify(json).length).toBeLessThan(120 * KB);
  expect(page.length).toBeLessThan(250 * KB);
});

it("has a section for every problem type", async () => {
  const { request, url } = await startApi();
  const { json } = await request("GET", "/v1/nothing");
  const type = new URL(String(json.type), url);
  const page = String((await request("GET", type.pathname)).json.text);

  expect(page).toContain(`id="${type.hash.slice(1)}"`);
  for (const code of Object.keys(ERRORS)) expect(page).toContain(`<code>${code}</code>`);
});
