import { describe, expect, it, onTestFinished } from "vitest";
import { proxyList } from "./proxy-list.ts";
import { describeExits, resolveExits } from "./resolve-exits.ts";

const field = proxyList({ env: "TRAWL_PROXIES", doc: "" });
const idsOf = (exits: readonly { id: string }[]) => exits.map(({ id }) => id);

describe("the ids of exits", () => {
  it("differ for gateways that differ only in their query, and for proxies that differ only in the password", () => {
    const entries = field.parse([
      "https://gate.test/?render=1&url={url}",
      "https://gate.test/?render=2&url={url}",
      "http://u:canary-a@p.test:1",
      "http://u:canary-b@p.test:1",
      "http://u:canary-c@p.test:1",
      "http://u:canary-a@p.test:1/",
    ]);
    const exits = resolveExits(entries ?? []);
    const [gate, , proxy] = idsOf(exits);
    expect(idsOf(exits)).toEqual([gate, `${gate}-2`, proxy, `${proxy}-2`, `${proxy}-3`]);
    expect(exits.slice(2).map(({ password }) => password)).toEqual(["canary-a", "canary-b", "canary-c"]);
  });

  it("differ for a SOCKS proxy that resolves host names and the same proxy that does not", () => {
    const entries = field.parse([
      { url: "socks5://p.test:1", tags: ["here"] },
      { url: "socks5h://p.test:1", tags: ["there"] },
      { url: "socks5://p.test:1", resolve: "proxy" },
    ]);
    const exits = resolveExits(entries ?? []);
    const [first] = idsOf(exits);
    expect(exits).toMatchObject([
      { id: first, label: "socks5://p.test:1", tags: ["here"], resolve: "here" },
      { id: `${first}-2`, label: "socks5h://p.test:1", tags: ["there"], resolve: "proxy" },
    ]);
    expect(exits).toHaveLength(2);
  });

  it("are the same in a process that cannot read the secrets", () => {
    const entries =
      field.parse(["https://gate.test/?key=env:CANARY_A&url={url}", "https://gate.test/?key=env:CANARY_B&url={url}"]) ??
      [];
    const described = idsOf(describeExits(entries));
    process.env.CANARY_A = "canary-a";
    process.env.CANARY_B = "canary-b";
    onTestFinished(() => {
      delete process.env.CANARY_A;
      delete process.env.CANARY_B;
    });
    expect(described).toHaveLength(2);
    expect(idsOf(resolveExits(entries))).toEqual(described);
  });
});
