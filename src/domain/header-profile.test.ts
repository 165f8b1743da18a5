import { describe, expect, it } from "vitest";
import {
  chooseProfile,
  PROFILE_GROUPS,
  PROFILE_NAMES,
  PROFILES,
  profileHeaders,
  userAgentOf,
} from "./header-profile.ts";

/** What the platform of a profile is called in a User-Agent and in the client hints. */
const SYSTEMS = [
  { ending: "windows", agent: "Windows NT 10.0", hint: '"Windows"' },
  { ending: "macos", agent: "Macintosh; Intel Mac OS X", hint: '"macOS"' },
  { ending: "linux", agent: "X11; Linux", hint: '"Linux"' },
];

describe("header profiles", () => {
  it.each(PROFILE_NAMES)("%s has a User-Agent, client hints and a platform that agree", (name) => {
    const headers = Object.fromEntries(PROFILES[name]);
    const agent = headers["User-Agent"] ?? "";
    const system = SYSTEMS.find(({ ending }) => name.endsWith(ending)) ?? SYSTEMS[1];
    expect(agent).toContain(system?.agent);
    const version = /Chrome\/(\d+)/.exec(agent)?.[1];
    expect(name.startsWith("chrome")).toBe(version !== undefined);
    expect(headers["sec-ch-ua-platform"]).toBe(version === undefined ? undefined : system?.hint);
    const brands = [...(headers["sec-ch-ua"] ?? "").matchAll(/"(Google Chrome|Chromium)";v="(\d+)"/g)];
    expect(brands.map(([, , brand]) => brand)).toEqual(version === undefined ? [] : [version, version]);
    const revision = /rv:(\d+)\.0/.exec(agent)?.[1];
    expect(/Firefox\/(\d+)/.exec(agent)?.[1]).toBe(revision);
    expect(name.startsWith("firefox")).toBe(revision !== undefined);
    expect(userAgentOf(name)).toBe(agent);
  });

  it.each(PROFILE_NAMES)("%s accepts only encodings that can be decoded", (name) => {
    for (const protocol of ["https:", "http:"]) {
      const accepted = profileHeaders(name, protocol, {})["Accept-Encoding"]?.split(", ") ?? [];
      expect(accepted.length).toBeGreaterThan(1);
      expect(["gzip", "deflate", "br"]).toEqual(expect.arrayContaining(accepted));
    }
  });

  it("send client hints and Sec-Fetch only to https URLs, as browsers do", () => {
    const plain = Object.keys(profileHeaders("chrome-linux", "http:", {}));
    expect(plain).toEqual(["Upgrade-Insecure-Requests", "User-Agent", "Accept", "Accept-Encoding", "Accept-Language"]);
  });

  it("keep the place of a header that the job sets, and add others at the end", () => {
    const headers = profileHeaders("chrome-linux", "https:", { "accept-language": "de", "x-own": "1" });
    expect(Object.entries(headers).slice(-2)).toEqual([
      ["Accept-Language", "de"],
      ["x-own", "1"],
    ]);
  });

  it("leave out client hints that would contradict the User-Agent of the job", () => {
    const headers = profileHeaders("chrome-linux", "https:", { "user-agent": "mine" });
    expect(headers["User-Agent"]).toBe("mine");
    expect(Object.keys(headers).filter((key) => key.startsWith("sec-ch-ua"))).toEqual([]);
  });

  it("are different for sessions in a row, and always the same for one session", () => {
    const { browser = [] } = PROFILE_GROUPS;
    const chosen = browser.map((_, number) => chooseProfile(browser, "job", number));
    expect(new Set(chosen).size).toBe(browser.length);
    expect(browser.map((_, number) => chooseProfile(browser, "job", number))).toEqual(chosen);
  });
});
