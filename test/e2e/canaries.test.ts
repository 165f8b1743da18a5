/**
 * Searches everything that Trawl shows for secrets. The secrets are in headers, credentials, a login, a cookie and
 * proxies. The site fails in many ways. Afterwards, no secret may occur in a log, in an answer of the server, in the
 * output of a command, or in the arguments of a process.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startProxy } from "../site/proxy.ts";
import { lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import type { Summary } from "./ledger.ts";
import { linksTo, originOf } from "./sites.ts";

/** Written as references. */
const REFERENCED = {
  SHOP_HEADER: "canary-header-env",
  SHOP_USER: "canary-user",
  SHOP_PASSWORD: "canary-basic-env",
  SHOP_LOGIN: "canary-login-env",
  SHOP_PROXY: "canary-proxy-env",
  SHOP_GATEWAY: "canary-gateway-env",
};
/** Written into the job. */
const LITERAL = { header: "canary-header", bearer: "canary-bearer", request: "canary-request", login: "canary-pin" };
const COOKIE = "canary-cookie";
const BASIC = Buffer.from(`${REFERENCED.SHOP_USER}:${REFERENCED.SHOP_PASSWORD}`).toString("base64");
const PROXY = Buffer.from(`u:${REFERENCED.SHOP_PROXY}`).toString("base64");
const FORBIDDEN = ["canary-", BASIC, PROXY];

const FAILING = ["/500", "/404", "/reset", "/loop", "/blocked", "/bad", "/throws", "/away", "/slow-login"];

type Seen = { logins: string[]; headers: IncomingMessage["headers"][] };

/** A site behind basic authentication and a login. It records what it gets, and sets a secret cookie. */
async function memberSite(away: string, seen: Seen) {
  return originOf(async (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader("content-type", "text/html");
    const { url = "/", method, headers } = request;
    if (url === "/robots.txt") return void response.writeHead(404).end();
    seen.headers.push(headers);
    if (headers.cookie !== undefined) response.setHeader("set-cookie", `sid=${COOKIE}; Path=/`);
    if (url === "/login" && method === "GET") return void response.end('<input name="csrf" value="t1">');
    if (url === "/login") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      seen.logins.push(Buffer.concat(chunks).toString());
      response.setHeader("set-cookie", `sid=${COOKIE}; Path=/; HttpOnly`);
      return void response.end("<h1>welcome</h1>");
    }
    if (!headers.cookie?.includes(COOKIE)) return void response.writeHead(401).end();
    if (url === "/") return void response.end(linksTo(...FAILING));
    if (url === "/reset") return void request.socket.destroy();
    if (url === "/loop") return void response.writeHead(302, { location: "/loop" }).end();
    if (url === "/away") return void response.writeHead(302, { location: away }).end();
    if (url === "/bad") return void response.writeHead(302, { location: "http://[bad" }).end();
    if (url === "/blocked") return void response.writeHead(403, { "cf-mitigated": "challenge" }).end();
    const status = /^\/(\d+)$/.exec(url)?.[1];
    if (status !== undefined) return void response.writeHead(Number(status)).end();
    response.end("<h1>page</h1>");
  });
}

/** The parts of a job with secrets. */
function secretParts(site: string, away: string): object {
  return {
    politeness: { rate: "unlimited", perSite: 4 },
    retries: { max: 1, backoff: "1ms" },
    headers: { "x-env": "env:SHOP_HEADER", "x-literal": LITERAL.header },
    auth: {
      [site]: { basic: { user: "env:SHOP_USER", password: "env:SHOP_PASSWORD" } },
      [new URL(away).origin]: { bearer: LITERAL.bearer },
    },
    cookies: true,
    login: {
      url: `${site}/login`,
      fields: { csrf: "input[name=csrf]@value" },
      form: { password: "env:SHOP_LOGIN", pin: LITERAL.login },
      check: { cookie: "sid" },
    },
    // biome-ignore lint/suspicious/noThenProperty: the name of the key in a job
    proxy: { use: ["dc"], then: ["paid"] },
    follow: { scope: "any" },
    keep: { bodies: false },
  };
}

async function startWorld() {
  const cwd = newFolder();
  const seen: Seen = { logins: [], headers: [] };
  const gatewayQueries: string[] = [];
  const bearers: (string | undefined)[] = [];
  const proxy = await startProxy({ username: "u", password: REFERENCED.SHOP_PROXY });
  onTestFinished(() => proxy.close());
  const gateway = await originOf((request, response) => {
    gatewayQueries.push(request.url ?? "");
    bearers.push(request.headers.authorization);
    response.writeHead(500).end();
  });
  const other = await originOf((request, response) => {
    if (request.url === "/robots.txt") return void response.writeHead(404).end();
    bearers.push(request.headers.authorization);
    response.writeHead(500).end();
  });
  const away = `${other.url}/away`;
  const site = await memberSite(away, seen);
  const list = [
    { url: proxy.url.replace(REFERENCED.SHOP_PROXY, "env:SHOP_PROXY"), tags: ["dc"] },
    { gateway: `${gateway.url}/?key=env:SHOP_GATEWAY&url={url}`, tags: ["paid"] },
  ];
  writeFileSync(join(cwd, "proxies.json"), JSON.stringify(list));
  const env = {
    ...REFERENCED,
    TRAWL_ALLOW_PRIVATE: "127.0.0.0/8",
    TRAWL_LOG_LEVEL: "debug",
    TRAWL_PROXIES: "proxies.json",
    TRAWL_SECRETS: "env:SHOP_*",
  };
  return { cwd, env, seen, gatewayQueries, bearers, site: site.url, away };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/** The secrets were used: otherwise this test would prove nothing. */
function expectUsed({ seen, gatewayQueries, bearers }: World): void {
  expect(seen.logins[0]).toBe(`csrf=t1&password=${REFERENCED.SHOP_LOGIN}&pin=${LITERAL.login}`);
  const pages = seen.headers.filter(({ cookie }) => cookie !== undefined);
  expect(pages[0]).toMatchObject({
    ...{ authorization: `Basic ${BASIC}`, cookie: `sid=${COOKIE}` },
    ...{ "x-env": REFERENCED.SHOP_HEADER, "x-literal": LITERAL.header },
  });
  expect(bearers).toContain(`Bearer ${LITERAL.bearer}`);
  expect(gatewayQueries.some((query) => query.includes(`key=${REFERENCED.SHOP_GATEWAY}`))).toBe(true);
}

/** The lines with a secret, with the name of their source. */
function leaks(shown: ReadonlyMap<string, string>): string[] {
  return [...shown].flatMap(([name, text]) =>
    text
      .split(/\n|(?<=[,}])/)
      .filter((line) => FORBIDDEN.some((secret) => line.includes(secret)))
      .map((line) => `${name}: ${line.slice(0, 300)}`),
  );
}

describe("no secret is shown", () => {
  it("by a crawl with debug logs, nor by any command about it", async () => {
    const world = await startWorld();
    const { cwd, env, site, away } = world;
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        ...${JSON.stringify(secretParts(site, away))},
        name: "members",
        start: [{ url: "${site}/", headers: { "x-request": "${LITERAL.request}" } }],
        async page({ url, follow, emit, request }) {
          if (url.endsWith("/throws")) throw new Error("the handler failed on " + url);
          if (url.endsWith("/slow-login")) await request("/500");
          emit({ url });
          follow("a");
        },
      };`,
    );
    const shown = new Map<string, string>();
    const run = async (...args: string[]) => {
      const end = await trawl(args, { cwd, env });
      shown.set(args.join(" "), end.stdout + end.stderr);
      return end;
    };

    const { id } = lastJson<Summary>(await run("crawl", "spider.mjs", "--json"));
    await run("try", "spider.mjs");
    await run("try", "spider.mjs", "--json");
    for (const args of [
      ["job", id, "--json"],
      ["job", id],
      ["jobs", "--json"],
      ["trace", id],
      ["trace", id, "--json"],
    ]) {
      await run(...args);
    }
    for (const args of [
      ["dead", "--list"],
      ["dead", "--list", "--json"],
      ["dead"],
      ["explain", id],
      ["explain", away],
    ]) {
      await run(...args);
    }
    for (const args of [["doctor"], ["doctor", "--json"], ["proxies"], ["proxies", "--json"]]) await run(...args);

    expectUsed(world);
    expect(shown.get("dead --list --json")).toMatch(/handler_failed/);
    expect(leaks(shown)).toEqual([]);
  });

  it("by a server and its workers, in any answer, log or process argument", async () => {
    const world = await startWorld();
    const { cwd, env, site, away } = world;
    const server = startTrawl(["serve", "--port", "0"], { cwd, env });
    onTestFinished(() => server.kill("SIGKILL"));
    await server.prints(/http:\/\/127\.0\.0\.1:\d+/);
    const [api = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(Object.values(server.output()).join("")) ?? [];
    const shown = new Map<string, string>();
    const get = async (path: string) => {
      const response = await fetch(api + path, { headers: { accept: "application/json, text/event-stream, */*" } });
      const isEndless = path === "/v1/events";
      shown.set(path, isEndless ? "" : await response.text());
      if (isEndless) await response.body?.cancel();
      return shown.get(path) ?? "";
    };
    const post = async (path: string, body: object) => {
      const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
      const text = await (await fetch(api + path, options)).text();
      shown.set(`POST ${path}`, text);
      return JSON.parse(text) as { id: string };
    };
    const job = {
      ...secretParts(site, away),
      name: "members",
      urls: [{ url: `${site}/`, headers: { "x-request": LITERAL.request } }],
    };
    const { id } = await post("/v1/jobs", job);
    const schedule = await post("/v1/schedules", { every: "300d", name: "members", job });
    await post("/v1/jobs", { ...job, auth: { [`${site}/path`]: { bearer: LITERAL.bearer } } });
    await post("/v1/jobs", { ...job, headers: { "x-bad": `${LITERAL.header}\u0001` } });

    const worker = startTrawl(["worker", "--processes", "1"], { cwd, env });
    onTestFinished(() => worker.kill("SIGKILL"));
    await worker.prints(/./);
    const events = await fetch(`${api}/v1/jobs/${id}/events`); // ends with the job
    shown.set("job events", await events.text());
    shown.set("arguments", argumentsOf(worker.pid).join("\n"));

    const { pages } = JSON.parse(await get(`/v1/jobs/${id}/pages`)) as { pages: { id: number }[] };
    const { paths } = JSON.parse(await get("/openapi.json")) as { paths: Record<string, Record<string, unknown>> };
    for (const path of Object.keys(paths).filter((one) => paths[one]?.get !== undefined)) {
      const own = path.includes("/schedules/") ? schedule.id : path.includes("/pages/") ? String(pages[0]?.id) : id;
      await get(path.replace("{id}", own).replace("{site}", new URL(site).host).replace("{file}", "x"));
    }
    for (const { id: page } of pages) await get(`/v1/pages/${page}`);
    for (const query of [`job=${id}`, `job=${id}&list=true`, "limit=500"]) await get(`/v1/dead?${query}`);
    for (const query of [`job=${id}`, `url=${site}/500`, `site=${new URL(site).host}`])
      await get(`/v1/explain?${query}`);
    for (const query of [`job=${id}`, `id=${id}`, `url=${site}/500`]) await get(`/v1/trace?${query}`);
    await get("/metrics");

    worker.kill("SIGTERM");
    await worker.ended;
    server.kill("SIGTERM");
    await server.ended;
    shown.set("worker", Object.values(worker.output()).join("\n"));
    shown.set("server", Object.values(server.output()).join("\n"));

    expectUsed(world);
    expect(pages.length).toBeGreaterThan(0);
    expect(shown.get("arguments")).toContain("dist");
    expect(leaks(shown)).toEqual([]);
  });
});

/** The command lines of a process and of all processes below it. */
function argumentsOf(pid: number): string[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readOrEmpty(`/proc/${name}/stat`);
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return [{ pid: Number(name), parent }];
    });
  const own = [pid];
  for (const at of own) own.push(...parents.filter(({ parent }) => parent === at).map((one) => one.pid));
  return own.map((one) => readOrEmpty(`/proc/${one}/cmdline`).replaceAll("\0", " "));
}

/** A process may end while it is read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
