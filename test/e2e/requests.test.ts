/** Tests requests other than a plain GET, from the side of the site that gets them. */

import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Origin } from "../site/origin.ts";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--ignore-robots", "--json", "--quiet"];

type Received = {
  method: string;
  path: string;
  type: string | undefined;
  body: string;
  headers: Record<string, unknown>;
};

/** A site that records the bodies of requests and answers with JSON. */
async function recordingSite(
  answer: (received: Received, response: ServerResponse) => void = (_, response) => void response.end("<h1>ok</h1>"),
): Promise<Origin & { received: Received[] }> {
  const received: Received[] = [];
  const origin = await originOf(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = request;
    const one = { method, path: url, type: headers["content-type"], body: Buffer.concat(chunks).toString(), headers };
    received.push(one);
    response.setHeader("content-type", "text/html");
    answer(one, response);
  });
  return { ...origin, received };
}

async function crawl(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const end = await trawl(["crawl", ...args, ...FAST], { cwd, env });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  return { end, summary };
}

function short({ method, path, type, body }: Received): string {
  return [method, path, type?.split(";")[0], body].filter((part) => part !== undefined && part !== "").join(" ");
}

describe("requests of a job", () => {
  it("have a method, headers and a body, and equal ones are sent once", async () => {
    const [cwd, site] = [newFolder(), await recordingSite()];
    const search = { url: `${site.url}/search`, form: { q: "mug", tags: ["a", "b"] } };
    writeFileSync(
      join(cwd, "job.json"),
      JSON.stringify({
        urls: [
          `${site.url}/`,
          { url: `${site.url}/items`, method: "post", json: { page: 1 }, headers: { "X-Own": "1" } },
          { url: `${site.url}/items`, json: { page: 2 } },
          { url: `${site.url}/items`, method: "POST", json: { page: 2 }, headers: { "X-Other": "2" } },
          search,
          search,
          { url: `${site.url}/raw`, method: "PUT", body: "<x/>", headers: { "Content-Type": "application/xml" } },
          { url: `${site.url}/items`, method: "HEAD" },
          { url: `${site.url}/items` },
        ],
      }),
    );

    const { summary } = await crawl(cwd, ["job.json"]);

    expect(site.received.map(short).sort()).toEqual(
      [
        "GET /",
        "GET /items",
        "HEAD /items",
        'POST /items application/json {"page":1}',
        'POST /items application/json {"page":2}',
        "POST /search application/x-www-form-urlencoded q=mug&tags=a&tags=b",
        "PUT /raw application/xml <x/>",
      ].sort(),
    );
    expect(site.received.find(({ headers }) => headers["x-own"] !== undefined)?.body).toBe('{"page":1}');
    expect(summary.counts).toMatchObject({ submitted: 9, duplicate: 2, done: 7 });
  });

  it("are typed like those of curl, for URLs and for lists with a request per line", async () => {
    const [cwd, site] = [newFolder(), await recordingSite()];
    writeFileSync(join(cwd, "body.json"), '{"from":"file"}\n');
    writeFileSync(join(cwd, "urls.txt"), `${site.url}/plain\n{"url":"${site.url}/line","form":{"a":1}}\n`);

    await crawl(cwd, [`${site.url}/json`, "-d", '{"a": 1}', "-H", "X-Key: k"]);
    await crawl(cwd, [`${site.url}/form`, "-d", "a=1&b=2 3", "-X", "PUT"]);
    await crawl(cwd, [`${site.url}/file`, "-d", "@body.json"]);
    await crawl(cwd, ["urls.txt", "--follow", "none"]);
    const tried = await trawl(["try", `${site.url}/try`, "-d", "q=x", "--ignore-robots"], { cwd });
    const wrong = await trawl(["crawl", `${site.url}/`, "-X", "FLY"], { cwd });
    const bodyOfGet = await trawl(["crawl", `${site.url}/`, "-X", "GET", "-d", "a=1"], { cwd });

    expect(site.received.map(short)).toEqual([
      'POST /json application/json {"a":1}',
      "PUT /form application/x-www-form-urlencoded a=1&b=2+3",
      'POST /file application/json {"from":"file"}',
      "GET /plain",
      "POST /line application/x-www-form-urlencoded a=1",
      "POST /try application/x-www-form-urlencoded q=x",
    ]);
    expect(site.received[0]?.headers["x-key"]).toBe("k");
    expect(tried.code).toBe(0);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--method: takes GET, HEAD, POST")]);
    expect([bodyOfGet.code, bodyOfGet.stderr]).toEqual([2, expect.stringContaining("a GET request has no body")]);
  });

  it("are redirected as by browsers", async () => {
    const site = await recordingSite(({ path }, response) => {
      const [, status, to] = /^\/(\d+)(\/.*)$/.exec(path) ?? [];
      if (status === undefined) response.end("<h1>end</h1>");
      else response.writeHead(Number(status), { location: to }).end();
    });
    const cwd = newFolder();
    const urls = ["301/a", "302/b", "303/c", "307/d", "308/e"].map((path) => ({
      ...{ url: `${site.url}/${path}`, method: "POST", form: { a: 1 }, headers: { "x-own": "1" } },
    }));
    writeFileSync(
      join(cwd, "job.json"),
      JSON.stringify({ urls: [...urls, { ...urls[0], url: `${site.url}/302/f`, method: "PUT" }] }),
    );

    await crawl(cwd, ["job.json"]);

    const ends = site.received.filter(({ path }) => path.length === 2);
    expect(ends.map(short).sort()).toEqual([
      "GET /a",
      "GET /b",
      "GET /c",
      "POST /d application/x-www-form-urlencoded a=1",
      "POST /e application/x-www-form-urlencoded a=1",
      "PUT /f application/x-www-form-urlencoded a=1",
    ]);
    expect(ends.every(({ headers }) => headers["x-own"] === "1")).toBe(true);
  });

  it("of a spider follow a cursor by POST, and call an API for a page", async () => {
    const site = await recordingSite(({ method, path, body }, response) => {
      if (path === "/") return void response.end(linksTo("/p/1"));
      if (path === "/stock?id=7") return void response.end('{"stock":3}');
      if (method !== "POST") return void response.writeHead(405).end();
      const { cursor = 0 } = JSON.parse(body) as { cursor?: number };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ items: [cursor * 2, cursor * 2 + 1], next: cursor < 4 ? cursor + 1 : null }));
    });
    const cwd = newFolder();
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "cursor",
        start: [{ url: "${site.url}/items", json: {} }],
        politeness: { rate: "unlimited", robots: false },
        async page({ html, url, emit, follow, request }) {
          const { items, next } = JSON.parse(html);
          const { stock } = (await request("/stock?id=7")).json();
          for (const id of items) emit({ id, stock });
          if (next !== null) follow(url, { json: { cursor: next }, carry: { next } });
        },
      };`,
    );

    const end = await trawl(["crawl", "spider.mjs", "--quiet"], { cwd });

    expect(end.stderr).toBe("");
    expect(jsonLines(end.stdout)).toMatchObject(Array.from({ length: 10 }, (_, id) => ({ id, stock: 3 })));
    expect(site.received.filter(({ method }) => method === "POST")).toHaveLength(5);
  });

  it("refuse a carry that is too large or not JSON, and name the fix", async () => {
    const [cwd, site] = [newFolder(), await recordingSite()];
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "carry",
        start: ["${site.url}/big", "${site.url}/map", "${site.url}/bad"],
        politeness: { rate: "unlimited", robots: false },
        page({ url, follow }) {
          if (url.endsWith("/big")) follow("/x", { carry: "x".repeat(20_000) });
          if (url.endsWith("/map")) follow("/x", { carry: { deep: [new Map()] } });
          if (url.endsWith("/bad")) follow("/x", { json: {}, form: {} });
        },
      };`,
    );

    await crawl(cwd, ["spider.mjs"]);
    const { dead } = lastJson<{ dead: { url: string; history: { detail: string }[] }[] }>(
      await trawl(["dead", "--list", "--json"], { cwd }),
    );

    const details = Object.fromEntries(dead.map(({ url, history }) => [url.slice(-3), history.at(-1)?.detail]));
    expect(details).toEqual({
      big: expect.stringContaining("20002 bytes, more than the limit of 16384"),
      map: expect.stringContaining("takes JSON values only, and deep[0] is a Map"),
      bad: expect.stringContaining("`form`: cannot be combined with json"),
    });
  });

  it("that may change data are sent once with retries.unsafe: false, and again without it", async () => {
    const site = await recordingSite((_, response) => void response.writeHead(500).end());
    const cwd = newFolder();
    const urls = [{ url: `${site.url}/order`, method: "POST", json: { n: 1 } }, `${site.url}/page`];
    const retries = { max: 2, backoff: "1ms" };
    writeFileSync(join(cwd, "once.json"), JSON.stringify({ urls, retries: { ...retries, unsafe: false } }));
    writeFileSync(join(cwd, "again.json"), JSON.stringify({ urls, retries }));

    await crawl(cwd, ["once.json"]);
    expect(site.received.map(({ method }) => method).sort()).toEqual(["GET", "GET", "GET", "POST"]);
    const { stdout } = await trawl(["dead", "--list"], { cwd });
    expect(stdout).toContain("not_repeated");

    await crawl(cwd, ["again.json"]);
    expect(site.received.filter(({ method }) => method === "POST")).toHaveLength(4);
  });
});

describe("headers that may contain secrets", () => {
  it("are sent to the origins of the job's URLs, and not by link, redirect or another port", async () => {
    const other = await recordingSite();
    const site = await recordingSite(({ path }, response) => {
      if (path === "/away") response.writeHead(302, { location: `${other.url}/redirected` }).end();
      else response.end(linksTo("/own", "/away", `${other.url}/linked`));
    });
    const cwd = newFolder();
    writeFileSync(join(cwd, "token"), "from-file\n");
    const headers = ["-H", "X-Api-Key: env:SHOP_KEY", "-H", "Authorization: file:token", "-H", "Accept-Language: de"];

    await crawl(cwd, [`${site.url}/`, "--scope", "any", ...headers], { SHOP_KEY: "canary-1" });

    const sent = ({ headers: all }: Received) => [all["x-api-key"], all.authorization, all["accept-language"]];
    expect(site.received.map(sent)).toEqual(site.received.map(() => ["canary-1", "from-file", "de"]));
    expect(site.received.map(({ path }) => path).sort()).toEqual(["/", "/away", "/own"]);
    expect(other.received.map(sent)).toEqual([
      [undefined, undefined, "de"],
      [undefined, undefined, "de"],
    ]);
  });

  it("are not resolved in headers that a spider builds, because a page may contain any text", async () => {
    const [cwd, site] = [newFolder(), await recordingSite((_, response) => void response.end("<h1>env:SHOP_KEY</h1>"))];
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "copies",
        start: ["${site.url}/"],
        politeness: { rate: "unlimited", robots: false },
        async page({ $, follow, request }) {
          const headers = { "x-token": $("h1").text() };
          follow("/followed", { to: "end", headers });
          await request("/requested", { headers });
        },
        handlers: { end() {} },
      };`,
    );

    await crawl(cwd, ["spider.mjs"], { SHOP_KEY: "canary" });

    const tokens = site.received.map(({ path, headers }) => [path, headers["x-token"]]).sort();
    expect(tokens).toEqual([
      ["/", undefined],
      ["/followed", "env:SHOP_KEY"],
      ["/requested", "env:SHOP_KEY"],
    ]);
  });

  it("are refused if the reference cannot be resolved", async () => {
    const [cwd, site] = [newFolder(), await recordingSite()];
    const end = await trawl(["crawl", `${site.url}/`, "-H", "X-Key: env:NOT_SET", ...FAST], { cwd });

    expect([end.code, end.stderr]).toEqual([2, expect.stringContaining("env:NOT_SET is not set")]);
    expect(site.received).toEqual([]);
  });
});
