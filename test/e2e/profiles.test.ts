/** Tests header profiles, judged by the raw headers that a site gets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PROFILES } from "../../src/domain/header-profile.ts";
import { CHROMIUM } from "../browser/chromium.ts";
import { findCertificatesObstacle, makeCertificates } from "../services/certificates.ts";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--json", "--quiet"];

type Sent = { path: string; headers: [name: string, value: string][]; cookie: string };

function sentBy({ url: path = "", rawHeaders, headers }: IncomingMessage): Sent {
  const pairs = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as [string, string]] : [],
  );
  // undici sends these two first.
  return { path, headers: pairs.filter(([name]) => !/^(host|connection)$/i.test(name)), cookie: headers.cookie ?? "" };
}

function agentOf({ headers }: Sent): string {
  return headers.find(([name]) => name.toLowerCase() === "user-agent")?.[1] ?? "";
}

async function noteRequests(sent: Sent[], answer: (request: IncomingMessage, response: ServerResponse) => void) {
  return originOf((request, response) => {
    sent.push(sentBy(request));
    response.setHeader("content-type", "text/html");
    answer(request, response);
  });
}

async function crawlJob(job: object, env: Record<string, string> = {}): Promise<Summary> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "job.json"), JSON.stringify(job));
  const summary = lastJson<Summary>(await trawl(["crawl", "job.json", ...FAST], { cwd, env }));
  expectBalanced(summary.counts);
  return summary;
}

describe("a job with a profile", () => {
  it.skipIf(findCertificatesObstacle() !== undefined)(
    "sends exactly the headers of the browser to an https site, in its order",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "trawl-tls-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const { ca, server } = makeCertificates(folder);
      const tls = { cert: readFileSync(server.cert), key: readFileSync(server.key) };
      const sent: Sent[] = [];
      const site = createTlsServer(tls, (request, response) => {
        sent.push(sentBy(request));
        response.end("<h1>page</h1>");
      });
      await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void site.close());
      const url = `https://127.0.0.1:${(site.address() as AddressInfo).port}/`;

      for (const profile of ["chrome-windows", "firefox-macos", "safari"] as const) {
        sent.length = 0;
        await crawlJob({ urls: [url], profile, politeness: { robots: false } }, { NODE_EXTRA_CA_CERTS: ca });
        expect(sent.map(({ headers }) => headers)).toEqual([PROFILES[profile]]);
      }
    },
  );

  it("matches robots.txt under the name of Trawl, and fetches it with its own User-Agent", async () => {
    const sent: Sent[] = [];
    const site = await noteRequests(sent, ({ url }, response) => {
      if (url === "/robots.txt") response.end("user-agent: Trawl\ndisallow: /private\n");
      else response.end("<h1>page</h1>");
    });

    const summary = await crawlJob({ urls: [`${site.url}/a`, `${site.url}/private`], profile: "chrome" });

    expect(summary.counts).toMatchObject({ done: 1, refused: 1 });
    const agents = Object.fromEntries(sent.map((one) => [one.path, agentOf(one)]));
    expect(agents["/robots.txt"]).toMatch(/^Trawl\//);
    expect(agents["/a"]).toMatch(/Chrome\/\d+/);
    expect(Object.keys(agents).sort()).toEqual(["/a", "/robots.txt"]);
  });

  it("gives each session one profile for its life, and headers of the job take precedence", async () => {
    const sent: Sent[] = [];
    let sessions = 0;
    const site = await noteRequests(sent, ({ headers }, response) => {
      if (headers.cookie === undefined) response.setHeader("set-cookie", `sid=s${++sessions}; Path=/`);
      response.end("<h1>page</h1>");
    });

    await crawlJob({
      urls: Array.from({ length: 24 }, (_, nth) => `${site.url}/${nth}`),
      profile: "browser",
      sessions: { count: 3 },
      headers: { "accept-language": "de" },
      politeness: { robots: false, perSite: 1 },
    });

    const agentsOf = new Map<string, Set<string>>();
    for (const one of sent.filter(({ cookie }) => cookie !== "")) {
      agentsOf.set(one.cookie, (agentsOf.get(one.cookie) ?? new Set()).add(agentOf(one)));
    }
    expect([...agentsOf.values()].map(({ size }) => size)).toEqual([1, 1, 1]);
    expect(new Set([...agentsOf.values()].flatMap((agents) => [...agents])).size).toBe(3);
    const languages = sent.map(({ headers }) => headers.find(([name]) => /^accept-language$/i.test(name))?.[1]);
    expect(new Set(languages)).toEqual(new Set(["de"]));
  });

  it.skipIf(CHROMIUM === undefined)("renders pages with the User-Agent of the profile", async () => {
    const sent: Sent[] = [];
    const site = await noteRequests(sent, ({ url }, response) => {
      if (url === "/api") response.end("agent");
      else response.end('<h1>page</h1><script>fetch("/api")</script>');
    });

    await crawlJob({
      urls: [`${site.url}/a`],
      profile: "chrome-linux",
      render: "always",
      browser: { waitFor: "idle" },
      politeness: { robots: false },
    });

    const agents = Object.fromEntries(sent.map((one) => [one.path, agentOf(one)]));
    expect(agents["/api"]).toBe(agents["/a"]);
    expect(agents["/a"]).toContain("X11; Linux");
  });
});
