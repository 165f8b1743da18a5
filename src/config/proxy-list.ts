/**
 * The setting `proxies`: the proxies and gateways that workers may use. It is an array in a config file. In the
 * environment and in flags, it is a list of URLs, or the path of a file with one URL per line or with a JSON array.
 */
import { readFileSync } from "node:fs";
import type { ProxyEntry } from "../domain/proxy-entry.ts";
import { parseSecretReference } from "../domain/secret-reference.ts";
import { maskedUrl } from "./connection-url.ts";
import type { Field } from "./fields.ts";

const KEYS = ["url", "gateway", "tags", "provider", "region", "cost", "resolve"];
const SCHEMES = /^(https?|socks5h?):\/\//i;
const TAG = /^[A-Za-z0-9_.:-]{1,64}$/;
const TAG_TAKES = "letters, digits and _ . : - (at most 64 characters)";
const MAX_PROXIES = 10_000;
/** A worker leases from one queue per region. */
const MAX_REGIONS = 50;
const MAX_COST = 1_000_000;
const EXAMPLE = '[{ url: "http://user:env:PASSWORD@proxy.example:8080", tags: ["dc"], cost: 1 }]';

export function proxyList({ env, doc }: { env: string; doc: string }): Required<Field<readonly ProxyEntry[]>> {
  return {
    default: "",
    env,
    doc,
    isSecret: true,
    takes: "a list of proxies",
    parse(raw) {
      const entries = read(raw);
      return typeof entries === "string" ? undefined : entries;
    },
    problemOf(raw) {
      const problem = read(raw);
      return typeof problem === "string" ? problem : "";
    },
  };
}

/** The entries, or a message that names the invalid one. */
function read(raw: unknown): readonly ProxyEntry[] | string {
  const written = typeof raw === "string" ? raw.split(",").map((part) => part.trim()) : raw;
  if (!Array.isArray(written)) return `proxies (TRAWL_PROXIES) takes a list such as ${EXAMPLE}`;
  const listed = expanded(written.filter((entry) => entry !== ""));
  if (typeof listed === "string") return listed;
  if (listed.length > MAX_PROXIES) return `proxies has ${listed.length} entries; at most ${MAX_PROXIES} are allowed`;
  const entries: ProxyEntry[] = [];
  for (const [index, value] of listed.entries()) {
    const entry = readEntry(value);
    if (typeof entry === "string") return `proxies[${index}]${entry}`;
    entries.push(entry);
  }
  const regions = new Set(entries.map(({ region }) => region).filter((region) => region !== undefined)).size;
  if (regions > MAX_REGIONS) return `proxies has ${regions} regions; at most ${MAX_REGIONS} are allowed`;
  return entries;
}

/** Replaces the paths of files by the entries in them. */
function expanded(written: readonly unknown[]): unknown[] | string {
  const all: unknown[] = [];
  for (const entry of written) {
    if (typeof entry !== "string" || isUrl(entry)) all.push(entry);
    else {
      const listed = fromFile(entry);
      if (typeof listed === "string") return listed;
      all.push(...listed);
    }
  }
  return all;
}

function isUrl(text: string): boolean {
  return text.includes("://") || parseSecretReference(text) !== undefined;
}

function fromFile(path: string): unknown[] | string {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    const advice = "write a URL such as http://host:8080, or the path of a file with one URL per line";
    return `proxies: ${JSON.stringify(path)} is neither a URL nor a file that can be read (${(cause as Error).message}); ${advice}`;
  }
  if (!text.startsWith("[")) {
    const lines = text.split(/\r?\n/).map((line) => line.trim());
    return lines.filter((line) => line !== "" && !line.startsWith("#"));
  }
  try {
    return JSON.parse(text) as unknown[];
  } catch (cause) {
    return `proxies: ${path} is not valid JSON: ${(cause as Error).message}`;
  }
}

/** The entry, or a message that is appended to its name. Messages contain no credentials. */
function readEntry(value: unknown): ProxyEntry | string {
  if (typeof value === "string") return readEntry(value.includes("{url}") ? { gateway: value } : { url: value });
  if (typeof value !== "object" || value === null) return ` is not a URL or an object; write ${EXAMPLE}`;
  const { url, gateway, tags = [], provider, region, cost: written = 1, resolve } = value as Record<string, unknown>;
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return ` has the unknown key ${unknown}; the known keys are ${KEYS.join(", ")}`;
  if ((url === undefined) === (gateway === undefined)) return " takes either url or gateway";
  const problem = gateway === undefined ? urlProblem(url) : gatewayProblem(gateway);
  if (problem !== undefined) return problem;
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string" && TAG.test(tag)))
    return `.tags takes a list of texts of ${TAG_TAKES}, not ${JSON.stringify(tags)}`;
  for (const [key, text] of Object.entries({ provider, region })) {
    if (text !== undefined && !(typeof text === "string" && TAG.test(text)))
      return `.${key} takes ${TAG_TAKES}, not ${JSON.stringify(text)}`;
  }
  const cost = readCost(written);
  if (cost === undefined) return `.cost takes ${COST_TAKES}, not ${JSON.stringify(written)}`;
  if (resolve !== undefined && resolve !== "here" && resolve !== "proxy")
    return `.resolve takes here or proxy, not ${JSON.stringify(resolve)}`;
  return {
    url: String(url ?? gateway),
    isGateway: gateway !== undefined,
    tags: tags as string[],
    provider: provider as string | undefined,
    region: region as string | undefined,
    cost: cost.request,
    costPerGb: cost.gb,
    resolve,
  };
}

const COST_TAKES = `a number from 0 to ${MAX_COST}, or an object of such numbers: { request: 1, gb: 4 }`;

/** A number is the price of a request. Undefined if the value is invalid. */
function readCost(written: unknown): { request: number; gb: number } | undefined {
  const parts = typeof written === "number" ? { request: written } : written;
  if (typeof parts !== "object" || parts === null || Object.keys(parts).length === 0) return undefined;
  const { request = 0, gb = 0, ...unknown } = parts as Record<string, unknown>;
  return isPrice(request) && isPrice(gb) && Object.keys(unknown).length === 0 ? { request, gb } : undefined;
}

function isPrice(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= MAX_COST;
}

function urlProblem(url: unknown): string | undefined {
  if (typeof url !== "string") return ".url takes a text";
  if (parseSecretReference(url) !== undefined) return undefined;
  const isKnown = SCHEMES.test(url) && URL.canParse(url) && new URL(url).hostname !== "";
  if (!isKnown) return `.url takes http://, https://, socks5:// or socks5h:// and a host, not ${shown(url)}`;
  const { pathname, search } = new URL(url);
  return (pathname === "" || pathname === "/") && search === ""
    ? undefined
    : `.url: ${shown(url)} has a path; a proxy has none, and a gateway contains {url}`;
}

function gatewayProblem(gateway: unknown): string | undefined {
  if (typeof gateway !== "string") return ".gateway takes a text";
  if (parseSecretReference(gateway) !== undefined) return undefined;
  if (!/^https?:\/\//i.test(gateway) || !URL.canParse(gateway))
    return `.gateway takes an http(s) URL, not ${shown(gateway)}`;
  const { origin, username, password } = new URL(gateway);
  if (username + password !== "") return `.gateway: ${shown(gateway)} has credentials; put them into its query`;
  if (!gateway.includes("{url}") || origin.includes("%7Burl"))
    return `.gateway: ${shown(gateway)} does not contain {url} in its path or query`;
  return undefined;
}

function shown(url: string): string {
  return JSON.stringify(maskedUrl(url));
}

/** The proxies of HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, which most programs use; the names may be in lower case. */
export function environmentProxies(environment: Readonly<Record<string, string | undefined>>): ProxyEntry[] {
  const value = (name: string) => environment[name.toLowerCase()] || environment[name];
  const except = (value("NO_PROXY") ?? "")
    .split(/[\s,]+/)
    .filter((host) => host !== "")
    .map((host) => host.toLowerCase());
  const schemes = { "http:": "HTTP_PROXY", "https:": "HTTPS_PROXY" } as const;
  return Object.entries(schemes).flatMap(([scheme, name]) => {
    const written = value(name) ?? value("ALL_PROXY");
    if (written === undefined) return [];
    const entry = readEntry(written.includes("://") ? written : `http://${written}`);
    // Other programs ignore an invalid value too.
    if (typeof entry === "string") return [];
    return [{ ...entry, environment: { scheme: scheme as "http:", except } }];
  });
}
