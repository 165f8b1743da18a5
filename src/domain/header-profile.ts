/**
 * Header profiles: the headers that common browsers send when a user opens a page, in their order. Pure.
 *
 * The User-Agent, the client hints (`sec-ch-ua…`) and the platform of a profile agree. To update a profile, copy the
 * headers that the browser sends to a server of your own.
 */

export type ProfileName =
  | "chrome-windows"
  | "chrome-macos"
  | "chrome-linux"
  | "firefox-windows"
  | "firefox-macos"
  | "firefox-linux"
  | "safari";

type Header = readonly [name: string, value: string];

const CHROME_VERSION = 151;
const FIREFOX_VERSION = 144;
const SAFARI_VERSION = "26.5";

/** Browsers offer zstd too, but Node 20 cannot decode it. */
const ENCODING: Header = ["Accept-Encoding", "gzip, deflate, br"];

/** The headers for https URLs. */
export const PROFILES: Readonly<Record<ProfileName, readonly Header[]>> = {
  "chrome-windows": chrome("Windows NT 10.0; Win64; x64", "Windows"),
  "chrome-macos": chrome("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
  "chrome-linux": chrome("X11; Linux x86_64", "Linux"),
  "firefox-windows": firefox("Windows NT 10.0; Win64; x64"),
  "firefox-macos": firefox("Macintosh; Intel Mac OS X 10.15"),
  "firefox-linux": firefox("X11; Linux x86_64"),
  safari: [
    [
      "User-Agent",
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${SAFARI_VERSION} Safari/605.1.15`,
    ],
    ["Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
    ["Sec-Fetch-Site", "none"],
    ["Sec-Fetch-Mode", "navigate"],
    ["Sec-Fetch-Dest", "document"],
    ["Accept-Language", "en-US,en;q=0.9"],
    ENCODING,
  ],
};

export const PROFILE_NAMES = Object.keys(PROFILES) as ProfileName[];

/** Names of groups of profiles. */
export const PROFILE_GROUPS: Readonly<Record<string, readonly ProfileName[]>> = {
  browser: PROFILE_NAMES,
  chrome: PROFILE_NAMES.filter((name) => name.startsWith("chrome-")),
  firefox: PROFILE_NAMES.filter((name) => name.startsWith("firefox-")),
};

/**
 * One of the profiles of a job. Equal arguments give the same profile in every process. Consecutive numbers give
 * different profiles, as long as there are enough of them.
 */
export function chooseProfile(names: readonly ProfileName[], seed: string, number: number): ProfileName | undefined {
  let sum = number;
  for (let at = 0; at < seed.length; at++) sum = (sum + seed.charCodeAt(at) * (at + 1)) % 1_000_000_007;
  return names[sum % names.length];
}

/**
 * The headers of a request with a profile. `more`, with names in lower case, replaces headers of the profile and adds
 * others after them. As in browsers, an http URL gets no client hints and no `Sec-Fetch-…`.
 */
export function profileHeaders(
  name: ProfileName,
  protocol: string,
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  const left = { ...more };
  const all: Record<string, string> = {};
  for (const [key, value] of PROFILES[name]) {
    const lower = key.toLowerCase();
    const own = left[lower];
    delete left[lower];
    if (own !== undefined) all[key] = own;
    else if (!isLeftOut(lower, protocol, more)) all[key] = lower === "accept-encoding" ? encodingFor(protocol) : value;
  }
  return { ...all, ...left };
}

export function userAgentOf(name: ProfileName): string | undefined {
  return PROFILES[name].find(([key]) => key === "User-Agent")?.[1];
}

function isLeftOut(name: string, protocol: string, more: Readonly<Record<string, string>>): boolean {
  if (name.startsWith("sec-") && protocol !== "https:") return true;
  // The client hints would contradict a User-Agent of the job.
  return name.startsWith("sec-ch-ua") && more["user-agent"] !== undefined;
}

function encodingFor(protocol: string): string {
  return protocol === "https:" ? ENCODING[1] : "gzip, deflate";
}

function chrome(system: string, platform: string): Header[] {
  return [
    ["sec-ch-ua", `"Not=A?Brand";v="99", "Google Chrome";v="${CHROME_VERSION}", "Chromium";v="${CHROME_VERSION}"`],
    ["sec-ch-ua-mobile", "?0"],
    ["sec-ch-ua-platform", `"${platform}"`],
    ["Upgrade-Insecure-Requests", "1"],
    [
      "User-Agent",
      `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${CHROME_VERSION}.0.0.0 Safari/537.36`,
    ],
    [
      "Accept",
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
    ],
    ["Sec-Fetch-Site", "none"],
    ["Sec-Fetch-Mode", "navigate"],
    ["Sec-Fetch-User", "?1"],
    ["Sec-Fetch-Dest", "document"],
    ENCODING,
    ["Accept-Language", "en-US,en;q=0.9"],
  ];
}

function firefox(system: string): Header[] {
  return [
    ["User-Agent", `Mozilla/5.0 (${system}; rv:${FIREFOX_VERSION}.0) Gecko/20100101 Firefox/${FIREFOX_VERSION}.0`],
    ["Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
    ["Accept-Language", "en-US,en;q=0.5"],
    ENCODING,
    ["Upgrade-Insecure-Requests", "1"],
    ["Sec-Fetch-Dest", "document"],
    ["Sec-Fetch-Mode", "navigate"],
    ["Sec-Fetch-Site", "none"],
    ["Sec-Fetch-User", "?1"],
    ["Priority", "u=0, i"],
  ];
}
