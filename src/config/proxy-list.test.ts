import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDirectRule } from "../domain/no-proxy.ts";
import { environmentProxies, proxyList } from "./proxy-list.ts";
import { exitSecrets, resolveExits } from "./resolve-exits.ts";

const field = proxyList({ env: "TRAWL_PROXIES", doc: "" });

describe("the setting proxies", () => {
  it("takes URLs, objects and gateways, and resolves them to exits", () => {
    const entries = field.parse([
      "http://user:p%40ss@dc1.example:8080",
      { url: "socks5://eu.example:1080", tags: ["residential"], provider: "bee", region: "eu", cost: 8 },
      { gateway: "https://api.gate.example/?key=k&url={url}", provider: "gate", cost: 5, resolve: "proxy" },
    ]);
    expect(resolveExits(entries ?? [])).toMatchObject([
      { kind: "http", label: "http://dc1.example:8080", username: "user", password: "p@ss", cost: 1, resolve: "here" },
      { kind: "socks5", tags: ["residential", "bee", "eu"], provider: "bee", region: "eu", cost: 8 },
      { kind: "gateway", label: "https://api.gate.example", provider: "gate", resolve: "proxy" },
    ]);
  });

  it("takes the price of a request, and the price of a request and of 1 GB", () => {
    const prices = (cost: unknown) => {
      const [entry] = field.parse([{ url: "http://a:1", cost }]) ?? [];
      return entry && [entry.cost, entry.costPerGb];
    };
    expect([prices(undefined), prices(2), prices({ gb: 4 }), prices({ request: 1, gb: 4 })]).toEqual([
      [1, 0],
      [2, 0],
      [0, 4],
      [1, 4],
    ]);
    for (const bad of [-1, "1", {}, { gb: "4" }, { request: 1, mb: 2 }, null, [1]]) expect(prices(bad)).toBeUndefined();
    expect(field.problemOf([{ url: "http://a:1", cost: { gb: -4 } }])).toBe(
      'proxies[0].cost takes a number from 0 to 1000000, or an object of such numbers: { request: 1, gb: 4 }, not {"gb":-4}',
    );
  });

  it("takes at most 50 regions, because a worker leases from one queue per region", () => {
    const regions = (count: number) =>
      Array.from({ length: count }, (_, nth) => ({ url: "http://a:1", region: `r${nth}` }));
    expect(field.problemOf(regions(50))).toBe("");
    expect(field.problemOf(regions(51))).toBe("proxies has 51 regions; at most 50 are allowed");
  });

  it("reads files with one URL per line or with JSON, in the environment and in flags", () => {
    const folder = mkdtempSync(join(tmpdir(), "trawl-proxies-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [lines, json] = [join(folder, "proxies.txt"), join(folder, "proxies.json")];
    writeFileSync(lines, "# data centre\nhttp://a.example:1\n\nsocks5h://b.example:2\n");
    writeFileSync(json, JSON.stringify([{ url: "https://c.example:3", tags: ["dc"] }]));
    const exits = resolveExits(field.parse(`${lines}, http://d.example:4,${json}`) ?? []);
    expect(exits.map(({ label, resolve }) => [label, resolve])).toEqual([
      ["http://a.example:1", "here"],
      ["socks5h://b.example:2", "proxy"],
      ["http://d.example:4", "here"],
      ["https://c.example:3", "here"],
    ]);
    expect(field.parse("")).toEqual([]);
  });

  it("takes passwords, keys of gateways and whole URLs by reference", () => {
    process.env.CANARY_PROXY = "http://u:canary-a@x.example:1";
    process.env.CANARY_KEY = "canary&b";
    onTestFinished(() => {
      delete process.env.CANARY_PROXY;
      delete process.env.CANARY_KEY;
    });
    const entries = field.parse([
      "env:CANARY_PROXY",
      "http://u:env:CANARY_KEY@y.example:1",
      "https://gate.example/?key=env:CANARY_KEY&render=1&url={url}",
    ]);
    const exits = resolveExits(entries ?? []);
    expect(exits.map(({ password, url }) => password || url)).toEqual([
      "canary-a",
      "canary&b",
      "https://gate.example/?key=canary%26b&render=1&url={url}",
    ]);
    expect(exits.map(({ label }) => label).join()).not.toContain("canary");
    const basic = Buffer.from("u:canary-a").toString("base64");
    expect(exitSecrets(entries ?? [])).toEqual(expect.arrayContaining(["canary-a", "canary&b", "canary%26b", basic]));
    expect(exitSecrets(entries ?? [])).not.toContain("1");
  });

  it.each([
    ["ftp://a.example", /proxies\[0\]\.url takes http:\/\//],
    [["http://u:canary@a.example:1/path"], /has a path; a proxy has none/],
    [["http://u:canary@a.example:1", { url: "http://b.example", tag: "x" }], /proxies\[1\] has the unknown key tag/],
    [[{ gateway: "https://a.example/?key=canary" }], /does not contain \{url\}/],
    [[{ url: "http://a.example", cost: -1 }], /\.cost takes a number/],
    [[{ url: "http://a.example", resolve: "me" }], /\.resolve takes here or proxy/],
    [[{ url: "http://a.example", tags: ["a b"] }], /\.tags takes a list/],
    [[{ tags: ["dc"] }], /takes either url or gateway/],
    ["no-such-file.txt", /is neither a URL nor a file/],
    [7, /takes a list such as/],
  ])("refuses %j and shows no password", (raw, problem) => {
    expect(field.parse(raw)).toBeUndefined();
    expect(field.problemOf(raw)).toMatch(problem);
    expect(field.problemOf(raw)).not.toContain("canary");
  });
});

describe("HTTP_PROXY, HTTPS_PROXY and NO_PROXY", () => {
  const environment = {
    HTTP_PROXY: "http://user:pass@proxy.example:3128",
    https_proxy: "proxy.example:3129",
    NO_PROXY: "internal.example, .b.example:8080 10.0.0.1",
  };

  it("are proxies for one scheme each, except for the named hosts and this machine", () => {
    const entries = environmentProxies(environment);
    expect(resolveExits(entries).map(({ label, scheme }) => [label, scheme])).toEqual([
      ["http://proxy.example:3128", "http:"],
      ["http://proxy.example:3129", "https:"],
    ]);
    const isDirect = createDirectRule(entries);
    const direct = (url: string) => isDirect(new URL(url));
    expect(["http://a.example/", "https://a.example/", "http://b.example/"].some(direct)).toBe(false);
    const own = ["http://internal.example/", "https://x.internal.example/", "http://x.b.example:8080/"];
    expect(
      [...own, "http://10.0.0.1/", "http://localhost:80/", "http://127.0.0.2/", "http://[::1]/"].every(direct),
    ).toBe(true);
  });

  it("leave the other scheme direct if only one is set", () => {
    const isDirect = createDirectRule(environmentProxies({ https_proxy: "http://proxy.example:1" }));
    expect([isDirect(new URL("http://a.example/")), isDirect(new URL("https://a.example/"))]).toEqual([true, false]);
    expect(createDirectRule([])(new URL("http://localhost/"))).toBe(false);
  });
});
