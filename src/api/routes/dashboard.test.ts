import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { ApiRequest, StreamResponse } from "../route.ts";
import { dashboardRoutes } from "./dashboard.ts";

const folder = mkdtempSync(join(tmpdir(), "trawl-dashboard-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("revalidates the page with its ETag, lets browsers cache assets forever, and sends accepted encodings", async () => {
  build({ "index.html": "<page>", "index.html.br": "BR", "index.html.gz": "GZ", "assets/a-1.js": "1" });
  const get = createClient();

  const page = await get("/");
  expect(page).toMatchObject({ status: 200, type: "text/html; charset=utf-8" });
  expect(await textOf(page)).toBe("<page>");
  expect(page.headers).toMatchObject({ "cache-control": "no-cache", "content-length": "6" });
  expect(page.headers?.["content-security-policy"]).toContain("default-src 'none'");
  const codings = ["gzip, br", "gzip;q=0.5", "br;q=0, gzip", "identity"];
  const bodies = codings.map(async (coding) => textOf(await get("/", { headers: { "accept-encoding": coding } })));
  expect(await Promise.all(bodies)).toEqual(["BR", "GZ", "GZ", "<page>"]);
  const again = await get("/", { headers: { "if-none-match": page.headers?.etag } });
  expect(again.status).toBe(304);
  const script = await get("/assets/:file", { params: { file: "a-1.js" } });
  expect(script).toMatchObject({ status: 200, type: "text/javascript; charset=utf-8" });
  expect(script.headers?.["cache-control"]).toContain("immutable");
});

it("serves the files of one build, even after another build has replaced them", async () => {
  build({ "index.html": "one", "assets/a-1.js": "1" });
  const get = createClient();
  await get("/");
  build({ "index.html": "two", "assets/a-2.js": "2" });

  expect(await textOf(await get("/"))).toBe("one");
  expect(await textOf(await get("/assets/:file", { params: { file: "a-1.js" } }))).toBe("1");
});

it("reports a missing build, and serves no other files", async () => {
  const get = createClient();
  await expect(get("/")).rejects.toMatchObject({ code: "DASHBOARD_MISSING" });
  build({ "index.html": "page", "secret.txt": "x" });

  for (const file of ["a-3.js", "../index.html", "../secret.txt", "..%2findex.html"])
    await expect(get("/assets/:file", { params: { file } })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

function build(files: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function createClient() {
  const routes = dashboardRoutes(folder);
  return async (path: string, request: object = {}): Promise<StreamResponse> => {
    const route = routes.find((one) => one.path === path);
    return (await route?.handle({ params: {}, headers: {}, ...request } as ApiRequest)) as StreamResponse;
  };
}

async function textOf({ stream }: StreamResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
