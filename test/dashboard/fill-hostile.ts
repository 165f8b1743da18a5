/** Fills a stage with hostile content: job names, titles, URLs and error messages that contain markup. */
import { waitUntil } from "../services/wait-until.ts";
import { ADDRESSES, HOSTILE, MARKUP, UNICODE } from "./hostile-strings.ts";
import type { Stage } from "./stage.ts";
import { page, type StageAnswer } from "./stage-web.ts";

export type HostileJobs = {
  /** Has hostile records, pages, dead letters and field names. */
  crawl: string;
  /** Has waiting URLs on sites with odd names. */
  waiting: string;
};

const MEGABYTE = 1_000_000;
const NAME_MAX = 200;
const TIMEOUT_MS = 150_000;
const [SCRIPT = "", IMAGE = ""] = MARKUP;

export async function fillHostile(stage: Stage): Promise<HostileJobs> {
  const { api, web } = stage;
  web.serve("evil.example", evil);
  const names = HOSTILE.filter(isName);
  // Open jobs without URLs cost almost nothing and are listed like all others.
  for (const name of names) await api.submit({ name, open: true });
  const crawl = await api.submit({
    name: `${IMAGE} ${SCRIPT}`,
    urls: [...HOSTILE.keys(), "mega"].flatMap(urlsOf),
    extract: {
      ...fieldsNamed([SCRIPT, IMAGE, "__html", "constructor", ...UNICODE.slice(0, 4)]),
      ...{ title: "h1", link: { select: "a.link@href", required: true } },
    },
    politeness: { rate: "unlimited", perSite: 16 },
    retries: { max: 1, backoff: "10ms" },
    keep: { bodies: true },
  });
  const waiting = await api.submit({
    name: SCRIPT,
    urls: ODD_HOSTS.map((host) => `http://${host}/`),
    queue: "unserved",
  });
  const job = { name: IMAGE, urls: ["http://evil.example/0"] };
  for (const name of names.slice(0, 20)) await api.schedules.add({ name, cron: "0 6 * * *", paused: true, job });
  for (const name of names.filter(isPrintable).slice(0, 20)) await api.keys.add({ name, scopes: ["read"] });
  const isOver = async () => (await api.job(crawl.id).state()).state !== "running";
  if (!(await waitUntil(isOver, TIMEOUT_MS, 100))) throw new Error("the hostile crawl did not end");
  return { crawl: crawl.id, waiting: waiting.id };
}

/** A URL parser accepts all of these hosts. */
export const ODD_HOSTS = [
  `"onmouseover=alert(1)".example`,
  "'onfocus=alert(1)'.example",
  "(alert`1`).example",
  "&lt;script&gt;.example",
  "{constructor}.example",
  "xn--80ak6aa92e.example",
  `${"long-".repeat(12)}.${"name-".repeat(12)}.${"of-a-site-".repeat(5)}.example`,
];

/** The URL of a page; for every fourth string also a redirect to a hostile address and a missing page. */
function urlsOf(nth: number | string): string[] {
  const text = typeof nth === "number" ? (HOSTILE[nth] ?? "") : nth;
  const own = `http://evil.example/page/${nth}?q=${encodeURIComponent(text).slice(0, 300)}`;
  if (typeof nth === "string" || nth % 4 !== 0) return [own];
  return [own, `http://evil.example/redirect/${nth}#${text}`, `http://evil.example/missing/${nth}/${inPath(text)}`];
}

function evil(path: string): StageAnswer {
  const [, kind = "", nth = ""] = /^\/(\w+)\/(\w+)/.exec(path) ?? [];
  const text = nth === "mega" ? "M".repeat(MEGABYTE) : (HOSTILE[Number(nth)] ?? "");
  const address = ADDRESSES[Number(nth) % ADDRESSES.length] ?? "";
  if (kind === "redirect") return { status: 302, headers: { location: asHeader(address) }, body: text };
  if (kind !== "page") return { status: 404, headers: { "content-type": `text/${asHeader(text)}` }, body: text };
  const odd = { "x-note": asHeader(text), "content-type": 'text/html; charset=utf-8; x="<script>alert(1)</script>"' };
  // Every seventh page lacks the required field.
  const link = Number(nth) % 7 === 3 ? "" : `<a class="link" href="${escaped(address)}">${escaped(text)}</a>`;
  const { body, ...answer } = page(escaped(text), link);
  // The body also contains the text unescaped, for the view of the body.
  return { ...answer, headers: odd, body: `${body}<!-- -->${text.slice(0, 1_000)}` };
}

/** Fields with hostile names, whose values are text, addresses or HTML. */
function fieldsNamed(names: readonly string[]) {
  const sources = ["h1", "a.link@href", { select: "h1", type: "html" as const }];
  return Object.fromEntries(
    names
      .filter((name) => !/^[_$\s]/.test(name))
      .map((name, nth) => [name.trim(), sources[nth % sources.length] ?? "h1"]),
  );
}

function isName(text: string): boolean {
  return text.length > 0 && text.length <= NAME_MAX && !/\p{Surrogate}/u.test(text) && !text.includes("\0");
}

function isPrintable(text: string): boolean {
  return /^[\x20-\x7e]{1,100}$/.test(text);
}

/** Replaces characters that a header cannot contain. */
function asHeader(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 2_000);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function inPath(text: string): string {
  return encodeURIComponent(text.slice(0, 100));
}
