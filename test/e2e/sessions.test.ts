/** Tests cookies, sessions and logins, judged by the site. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { waitUntil } from "../services/wait-until.ts";
import { type LoginSite, type LoginSiteOptions, startLoginSite } from "../site/login-site.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--ignore-robots", "--json", "--quiet"];
const SECRETS = { SHOP_USER: "ann", SHOP_PASSWORD: "canary-password" };

async function loginSite(options: Partial<LoginSiteOptions> = {}): Promise<LoginSite> {
  const site = await startLoginSite({
    ...{ user: SECRETS.SHOP_USER, password: SECRETS.SHOP_PASSWORD, items: 30, sessionRequests: 1e9 },
    ...options,
  });
  onTestFinished(() => site.close());
  return site;
}

function loginJob({ url }: LoginSite, items: number): object {
  return {
    urls: Array.from({ length: items }, (_, id) => `${url}/item/${id}`),
    extract: { title: "h1" },
    login: {
      url: `${url}/login`,
      fields: { csrf: "input[name=csrf]@value" },
      form: { user: "env:SHOP_USER", password: "env:SHOP_PASSWORD" },
      check: { cookie: "sid" },
      expired: { status: [401], redirect: "**/login*" },
    },
  };
}

function withLogin(part: object): object {
  return { login: { url: "https://a.example/login", form: { user: "ann" }, ...part } };
}

/** The spider of the site: follows the cursor of the API, and the page of each item. */
function spiderOf({ url }: LoginSite, login: string): string {
  return `export default {
    name: "items",
    start: [{ url: "${url}/api/items", json: {} }],
    politeness: { rate: "unlimited", robots: false },
    login: ${login},
    page({ html, url, follow }) {
      const { ids, next } = JSON.parse(html);
      for (const id of ids) follow("/item/" + id, { to: "item" });
      if (next !== null) follow(url, { json: { cursor: next } });
    },
    handlers: { item({ $, emit }) { emit({ title: $("h1").text() }); } },
  };`;
}

const OWN_LOGIN = `async ({ request, session }) => {
  const page = await request("/login");
  const [, csrf] = /name="csrf" value="(\\w+)"/.exec(page.text);
  const { SHOP_USER: user, SHOP_PASSWORD: password } = process.env;
  const home = await request("/login", { form: { csrf, user, password } });
  if (session.cookie(home.url, "sid") === undefined) throw new Error("no session");
}`;

async function crawl(cwd: string, args: readonly string[], env: Record<string, string> = SECRETS) {
  const end = await trawl(["crawl", ...args, ...FAST], { cwd, env });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  const records = jsonLines((await trawl(["records", summary.id], { cwd })).stdout) as { title: string }[];
  return { end, summary, titles: records.map(({ title }) => title).sort() };
}

function itemTitles(count: number): string[] {
  return Array.from({ length: count }, (_, id) => `item ${id}`).sort();
}

describe("a job with cookies", () => {
  it("sends the cookies of a site back to it, and only to it", async () => {
    const other = await originOf({ "/": "<h1>other</h1>" }, { host: "127.0.0.2" });
    const site = await originOf((request, response) => {
      const wall = !request.headers.cookie?.includes("seen=1");
      response.setHeader("content-type", "text/html");
      if (wall) response.writeHead(302, { location: request.url ?? "/", "set-cookie": "seen=1; Path=/" }).end();
      else response.end(linksTo("/a", "/b", `${other.url}/`));
    });
    const cwd = newFolder();

    const { summary } = await crawl(cwd, [`${site.url}/start`, "--cookies", "--scope", "any"], {
      TRAWL_ALLOW_PRIVATE: "127.0.0.0/8",
    });

    expect(summary).toMatchObject({ state: "finished", counts: { dead: 0 } });
    expect(site.log.slice(1).map(({ headers }) => headers.cookie)).toEqual(site.log.slice(1).map(() => "seen=1"));
    expect(other.log.map(({ headers }) => headers.cookie)).toEqual([undefined]);
  });
});

describe("a job with several sessions", () => {
  it("keeps the session of a page that sets a cookie and redirects back", async () => {
    const site = await originOf((request, response) => {
      const hasCookie = request.headers.cookie?.includes("seen=1");
      if (hasCookie) response.end("<h1>page</h1>");
      else response.writeHead(302, { location: request.url ?? "/", "set-cookie": "seen=1; Path=/" }).end();
    });
    const cwd = newFolder();
    const urls = Array.from({ length: 20 }, (_, nth) => `${site.url}/${nth}`);
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls, sessions: { count: 5 }, extract: { title: "h1" } }));

    const { summary, titles } = await crawl(cwd, ["job.json"]);

    expect(summary.counts).toMatchObject({ dead: 0 });
    expect(titles).toHaveLength(20);
  });

  it("logs in again after a session was replaced, before the next page", async () => {
    const site = await loginSite();
    const cwd = newFolder();
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ ...loginJob(site, 30), sessions: { rotateAfter: 7 } }));

    const { titles } = await crawl(cwd, ["job.json"]);

    expect(titles).toEqual(itemTitles(30));
    expect(site.anonymous()).toEqual([]);
    expect(site.logins()).toBeGreaterThan(2);
  });
});

describe("the sitemaps of a job with a session", () => {
  it("are fetched after the login, and again after the session has expired", async () => {
    // The login uses one request of a session. So with 2 requests, each session ends after one sitemap or page.
    for (const sessionRequests of [2, 4]) {
      const site = await loginSite({ items: 10, sessionRequests });
      const cwd = newFolder();
      const job = { ...loginJob(site, 0), sitemaps: [`${site.url}/sitemap.xml`], politeness: { perSite: 1 } };
      writeFileSync(join(cwd, "job.json"), JSON.stringify(job));

      const { summary, titles } = await crawl(cwd, ["job.json"]);

      expect(summary.counts).toMatchObject({ dead: 0 });
      expect(titles).toEqual(itemTitles(10));
      expect(site.anonymous()).toEqual([]);
      expect(site.expired()).toBeGreaterThan(1);
    }
  });

  it("send the cookie that a redirect to the same URL sets", async () => {
    const site = await originOf((request, response) => {
      const hasCookie = request.headers.cookie?.includes("seen=1");
      if (!hasCookie) response.writeHead(302, { location: request.url ?? "/", "set-cookie": "seen=1; Path=/" }).end();
      else if (request.url === "/sitemap.xml") response.end("<urlset><url><loc>/a</loc></url></urlset>");
      else response.end("<h1>a</h1>");
    });
    const cwd = newFolder();
    const job = { sitemaps: [`${site.url}/sitemap.xml`], sessions: { count: 3 }, extract: { title: "h1" } };
    writeFileSync(join(cwd, "job.json"), JSON.stringify(job));

    const { summary, titles } = await crawl(cwd, ["job.json"]);

    expect(summary.counts).toMatchObject({ dead: 0 });
    expect(titles).toEqual(["a"]);
  });
});

describe.skipIf(CHROMIUM === undefined)("a rendered page", () => {
  it("gets the cookies of the session, and sets cookies of the session", async () => {
    const site = await originOf((request, response) => {
      response.setHeader("content-type", "text/html");
      if (request.url === "/a") response.setHeader("set-cookie", ["http=1; Path=/; HttpOnly"]);
      const script = request.url === "/a" ? "document.cookie = 'script=1; path=/'" : "";
      response.end(
        `<h1></h1><a href="/b">b</a><script>${script}; document.querySelector("h1").textContent = document.cookie</script>`,
      );
    });
    const cwd = newFolder();
    const args = [`${site.url}/a`, "--cookies", "--render", "always", "-e", "title=h1"];

    const { titles } = await crawl(cwd, args);

    const second = site.log.find(({ path }) => path === "/b");
    expect(second?.headers.cookie?.split("; ").sort()).toEqual(["http=1", "script=1"]);
    expect(titles).toEqual(["script=1", "script=1"]);
  });
});

describe("a login", () => {
  it("declared in a job is done once, with its token and secrets, and again when the session has expired", async () => {
    const site = await loginSite({ sessionRequests: 12 });
    const cwd = newFolder();
    writeFileSync(join(cwd, "job.json"), JSON.stringify(loginJob(site, 30)));

    const { end, summary, titles } = await crawl(cwd, ["job.json", "--log-level", "debug"]);

    expect(summary).toMatchObject({ state: "finished", counts: { done: 30, dead: 0 } });
    expect(titles).toEqual(itemTitles(30));
    expect(site.anonymous()).toEqual([]);
    expect(site.logins()).toBe(site.expired() + 1);
    expect(site.wrongPasswords()).toBe(0);
    const shown = await Promise.all(
      [
        ["job", "--json"],
        ["dead", "--list", "--json"],
        ["trace", summary.id, "--json"],
      ].map((args) => trawl(args, { cwd })),
    );
    expect(JSON.stringify([end, shown])).not.toContain(SECRETS.SHOP_PASSWORD);
  });

  it("of a spider is done once per session, and its API is called with the session", async () => {
    const site = await loginSite({ items: 30 });
    const cwd = newFolder();
    writeFileSync(join(cwd, "spider.mjs"), spiderOf(site, OWN_LOGIN));

    const { titles, summary } = await crawl(cwd, ["spider.mjs"]);

    expect(summary).toMatchObject({ state: "finished", counts: { dead: 0 } });
    expect(titles).toEqual(itemTitles(30));
    expect([site.logins(), site.anonymous()]).toEqual([1, []]);
  });

  it("that fails is reported with the reason, is not repeated for every page, and shows no secret", async () => {
    const site = await loginSite();
    const cwd = newFolder();
    const job = { ...loginJob(site, 20), retries: { max: 0 } };
    writeFileSync(join(cwd, "job.json"), JSON.stringify(job));

    const { summary } = await crawl(cwd, ["job.json"], { ...SECRETS, SHOP_PASSWORD: "canary-wrong" });
    const dead = await trawl(["dead", "--list"], { cwd });

    expect(summary.counts).toMatchObject({ dead: 20 });
    expect(dead.stdout).toMatch(/login at .*: the site set no cookie sid/);
    expect(dead.stdout + dead.stderr).not.toContain("canary");
    expect(site.wrongPasswords()).toBe(1);
    expect(site.log.filter(({ path }) => path.startsWith("/item/"))).toEqual([]);
  });

  it("that fails with an error status is explained, for the URL and for the job that waits", async () => {
    const site = await originOf(({ method = "" }, response) => {
      response.writeHead(method === "POST" ? 403 : 200, { "content-type": "text/html" }).end("<form></form>");
    });
    const cwd = newFolder();
    const login = { url: `${site.url}/login`, form: { user: "ann", password: "canary-wrong" } };
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls: [`${site.url}/`], login }));
    const crawling = startTrawl(["crawl", "job.json", ...FAST], { cwd });
    const explain = async (target: string) => (await trawl(["explain", target], { cwd })).stdout;
    const why = `login at ${site.url}/login: ${site.url}/login failed: answered 403; check the user name and the password`;

    const explains = (target: string, text: string) =>
      waitUntil(async () => (await explain(target)).includes(text), 45_000);
    expect(await explains(`${site.url}/`, `login_failed: ${why}`)).toBe(true);
    const { jobs } = lastJson<{ jobs: { id: string }[] }>(await trawl(["jobs", "--json"], { cwd }));
    // While the session logs in, `trawl explain` shows no failed login.
    expect(await explains(jobs[0]?.id ?? "", `1 session cannot log in: ${why}; Trawl tries again within`)).toBe(true);
    expect(await explain(`${site.url}/`)).not.toContain("canary");
    crawling.kill("SIGKILL");
    await crawling.ended;
  });

  it("is repeated once for a page that always answers 401, and other pages are not affected", async () => {
    const site = await loginSite();
    const cwd = newFolder();
    const job = loginJob(site, 10) as { urls: string[] };
    const urls = [...job.urls, `${site.url}/forbidden`];
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ ...job, urls, retries: { max: 0 } }));

    const { summary, titles } = await crawl(cwd, ["job.json"]);

    expect(summary.counts).toMatchObject({ done: 10, dead: 1 });
    expect(titles).toEqual(itemTitles(10));
    expect(site.logins()).toBe(2);
  });

  it("is started a few times, not once per page, by many pages that always answer 401", async () => {
    const site = await loginSite();
    const cwd = newFolder();
    const job = loginJob(site, 20) as { urls: string[] };
    const urls = Array.from({ length: 200 }, (_, nth) => [`${site.url}/forbidden/${nth}`, job.urls[nth] ?? []]);
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ ...job, urls: urls.flat(2) }));

    const { summary, titles } = await crawl(cwd, ["job.json"]);
    const dead = lastJson<{ dead: { reason: string }[] }>(
      await trawl(["dead", "--list", "--json", "--limit", "500"], { cwd }),
    );

    expect(summary.counts).toMatchObject({ done: 20, dead: 200 });
    expect(titles).toEqual(itemTitles(20));
    expect(new Set(dead.dead.map(({ reason }) => reason))).toEqual(new Set(["http_status"]));
    expect(site.log.filter(({ path }) => path.startsWith("/forbidden/")).length).toBeLessThanOrEqual(3 * 200);
    expect(site.logins()).toBeLessThanOrEqual(6);
  });

  it.each([
    [{ login: { url: "/login", form: { a: "b" } } }, /login.url: takes an absolute http\(s\) URL/],
    [{ login: { url: "https://a.example/login" } }, /login: has neither form nor json/],
    [{ cookies: false, sessions: { count: 2 } }, /cookies: false cannot be combined with sessions/],
    [withLogin({ check: { url: "**/{home" } }), /login.check.url: .*has an unpaired/],
    [withLogin({ expired: { redirect: "ftp://a.example/*" } }), /login.expired.redirect: .*only http and https/],
    [withLogin({ fields: { csrf: "input[name=" } }), /BAD_SELECTOR.*login.fields.csrf.* is not a CSS selector/],
    [withLogin({ check: { selector: "a >> b" } }), /BAD_SELECTOR.*login.check.selector.* is not a CSS selector/],
    [withLogin({ expired: { selector: "a[" } }), /BAD_SELECTOR.*login.expired.selector.* is not a CSS selector/],
    [{ sessions: { per: "page" } }, /sessions.per: takes one of job, site/],
  ])("is refused if it is invalid: %j", async (part, problem) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls: ["https://a.example/"], ...part }));
    for (const command of ["crawl", "submit"]) {
      const end = await trawl([command, "job.json"], { cwd });
      expect([end.code, end.stderr]).toEqual([2, expect.stringMatching(problem)]);
    }
  });
});
