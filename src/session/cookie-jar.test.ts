import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CookieJar } from "./cookie-jar.ts";

const CORPUS = resolve(import.meta.dirname, "../../../shared/corpora/http-state/parser.json");

type Case = { test: string; received: string[]; sent: { name: string; value: string }[]; "sent-to"?: string };

describe("a cookie jar", () => {
  afterEach(() => void vi.useRealTimers());

  it("sends cookies only to the hosts and paths that they belong to", () => {
    const jar = new CookieJar();
    jar.receive("https://shop.a.example/login", [
      "sid=1; Path=/",
      "deep=1; Path=/x",
      "wide=1; Domain=a.example",
      "s=1; Secure",
    ]);

    expect(jar.headerFor("https://shop.a.example/x/y")).toBe("deep=1; sid=1; wide=1; s=1");
    expect(jar.headerFor("https://b.a.example/")).toBe("wide=1");
    expect(jar.headerFor("http://shop.a.example/")).toBe("sid=1; wide=1");
    expect(jar.headerFor("https://evil.example/")).toBeUndefined();
    expect(jar.find("https://shop.a.example/", "sid")).toBe("1");
    expect(jar.find("https://shop.a.example/", "none")).toBeUndefined();
  });

  it("refuses cookies for public suffixes and other hosts, and cookies that are too large", () => {
    const jar = new CookieJar();
    jar.receive("https://a.co.uk/", ["x=1; Domain=co.uk", "y=1; Domain=b.co.uk", `z=${"1".repeat(5_000)}`]);
    expect(jar.list()).toEqual([]);
    expect(jar.hasChanges()).toBe(false);
  });

  it("merges its changes into the cookies of another worker", () => {
    const [one, other] = [new CookieJar(), new CookieJar()];
    one.receive("http://127.0.0.1:8080/", ["a=1", "b=1"]);
    other.load(one.list());
    one.takeChanges();
    other.receive("http://127.0.0.1:8080/", ["b=2", "c=2", "a=; Max-Age=0"]);
    one.receive("http://127.0.0.1:8080/", ["d=1"]);

    const merged = new CookieJar();
    merged.load(one.list());
    merged.set(other.takeChanges());
    expect(merged.headerFor("http://127.0.0.1:8080/")?.split("; ").sort()).toEqual(["b=2", "c=2", "d=1"]);
  });

  const cases: Case[] = existsSync(CORPUS) ? JSON.parse(readFileSync(CORPUS, "utf8")) : [];
  it.skipIf(cases.length === 0)("passes the cases of http-state", () => {
    // The cases were written in 2011. Their dates are relative to that time.
    vi.useFakeTimers({ now: Date.parse("2011-03-01T00:00:00Z") });
    const failed = cases.filter(
      (one) => sentBy(one) !== one.sent.map(({ name, value }) => `${name}=${value}`).join("; "),
    );
    expect(failed.map(({ test }) => test)).toEqual([]);
    expect(cases.length).toBe(222);
  });
});

function sentBy({ test, received, "sent-to": to = `/cookie-parser-result?${test}` }: Case): string {
  const jar = new CookieJar();
  const from = `http://home.example.org:8888/cookie-parser?${test}`;
  jar.receive(from, received);
  return jar.headerFor(new URL(to, from).href) ?? "";
}
