/** Tests basic and bearer authentication, from the side of the sites. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Origin } from "../site/origin.ts";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf } from "./sites.ts";

const RATE = ["--rate", "unlimited", "--json", "--quiet"];
const LOOPBACK = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
const BASIC = `Basic ${Buffer.from("alice:canary-pass").toString("base64")}`;

/** The path and the `authorization` header of each request, sorted. */
function seen({ log }: Pick<Origin, "log">): [string, string | undefined][] {
  return log.map(({ path, headers }): [string, string | undefined] => [path, headers.authorization]).sort();
}

describe("credentials", () => {
  it("are sent to their own origin only, by link and redirect, and not with robots.txt", async () => {
    const otherHost = await originOf((_, response) => void response.end("<h1>host</h1>"), { host: "127.0.0.2" });
    const otherPort = await originOf((_, response) => void response.end("<h1>port</h1>"));
    const api = await originOf((_, response) => void response.end("<h1>api</h1>"));
    const site = await originOf((request, response) => {
      if (request.url === "/robots.txt") response.writeHead(401).end();
      else if (request.headers.authorization !== BASIC) response.writeHead(401).end();
      else if (request.url === "/away") response.writeHead(302, { location: `${otherHost.url}/redirected` }).end();
      else if (request.url === "/again") response.writeHead(302, { location: "/end" }).end();
      else {
        response.setHeader("content-type", "text/html");
        response.end(linksTo("/again", "/away", `${otherPort.url}/linked`, `${api.url}/items`));
      }
    });
    const cwd = newFolder();
    const auth = {
      [site.url]: { basic: { user: "env:SHOP_USER", password: "env:SHOP_PASSWORD" } },
      [`${api.url}/`]: { bearer: "file:token" },
    };
    writeFileSync(join(cwd, "token"), "canary-token\n");
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls: [`${site.url}/`], follow: { scope: "any" }, auth }));
    const env = { ...LOOPBACK, SHOP_USER: "alice", SHOP_PASSWORD: "canary-pass" };

    const { counts } = lastJson<Summary>(await trawl(["crawl", "job.json", ...RATE], { cwd, env }));

    expectBalanced(counts);
    expect(counts.dead).toBe(0);
    expect(seen(site)).toEqual([
      ["/", BASIC],
      ["/again", BASIC],
      ["/away", BASIC],
      ["/end", BASIC],
      ["/robots.txt", undefined],
    ]);
    expect(seen(api)).toEqual([
      ["/items", "Bearer canary-token"],
      ["/robots.txt", undefined],
    ]);
    expect(seen(otherPort)).toEqual([
      ["/linked", undefined],
      ["/robots.txt", undefined],
    ]);
    expect(seen(otherHost)).toEqual([
      ["/redirected", undefined],
      ["/robots.txt", undefined],
    ]);
  });

  it("of a spider apply to follow and request, unless the request has its own header", async () => {
    const [cwd, site] = [newFolder(), await originOf((_, response) => void response.end("<h1>page</h1>"))];
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "members",
        start: ["${site.url}/"],
        politeness: { rate: "unlimited", robots: false },
        auth: { "${site.url}": { bearer: "env:TOKEN" } },
        async page({ follow, request }) {
          follow("/followed", { to: "end" });
          follow("/own", { to: "end", headers: { Authorization: "own" } });
          await request("/requested");
        },
        handlers: { end() {} },
      };`,
    );

    await trawl(["crawl", "spider.mjs", ...RATE], { cwd, env: { TOKEN: "canary-token" } });

    expect(seen(site)).toEqual([
      ["/", "Bearer canary-token"],
      ["/followed", "Bearer canary-token"],
      ["/own", "own"],
      ["/requested", "Bearer canary-token"],
    ]);
  });

  it("of --user are sent to the origins of the given URLs, by crawl, submit and try", async () => {
    const other = await originOf((_, response) => void response.end("<h1>other</h1>"));
    const site = await originOf((_, response) => void response.end(linksTo(`${other.url}/linked`)));
    const cwd = newFolder();
    const env = { ...LOOPBACK, SHOP_PASSWORD: "canary-pass", TRAWL_SECRETS: "env:SHOP_*" };
    const user = ["-u", "alice:env:SHOP_PASSWORD"];

    await trawl(["crawl", `${site.url}/crawl`, ...user, "--scope", "any", "--ignore-robots", ...RATE], { cwd, env });
    const tried = await trawl(["try", `${site.url}/try`, ...user, "--ignore-robots"], { cwd, env });
    const submitted = await trawl(["submit", `${site.url}/submit`, ...user, "--ignore-robots"], { cwd, env });
    const worked = await trawl(["worker", "--drain", "--quiet"], { cwd, env });
    const bad = await trawl(["crawl", `${site.url}/`, "-u", "alice"], { cwd });

    expect([tried.code, submitted.code, worked.code]).toEqual([0, 0, 0]);
    expect(seen(site)).toEqual([
      ["/crawl", BASIC],
      ["/submit", BASIC],
      ["/try", BASIC],
    ]);
    expect(other.log.map(({ headers }) => headers.authorization)).toEqual(other.log.map(() => undefined));
    expect(other.log.length).toBeGreaterThan(0);
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining("--user takes USER:PASSWORD")]);
  });
});
