/** The `trawl try` command: fetches one page, runs the rules or the spider on it, and prints records and links. */
import { extractorOf } from "../../compose/extractor.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { createSecretResolver } from "../../config/secret-reference.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import { TrawlError } from "../../errors.ts";
import { errorLocation } from "../../runtime/error-location.ts";
import { shortMessage } from "../../runtime/short-message.ts";
import { showable } from "../../runtime/showable.ts";
import type { Spider } from "../../spider/define-spider.ts";
import { loadSpider } from "../../spider/load-spider.ts";
import type { ExtractedPage, PageReader } from "../../spider/page-reader.ts";
import { spiderHash } from "../../spider/spider-hash.ts";
import { createSpiderReader, handlersOf, type OnSelector } from "../../spider/spider-reader.ts";
import { newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import { canonicalEntryUrl, urlOfEntry } from "../../submit/url-entry.ts";
import { VERSION } from "../../version.ts";
import { createPlanMaker } from "../../worker/task/make-plan.ts";
import { badUrl, readTarget, withRequestFlags } from "../crawl/targets.ts";
import { exitSettings } from "../proxy-flags.ts";
import type { Screen } from "../terminal.ts";
import { type PictureFlags, withPictures, writePicture } from "./pictures.ts";
import { showPage } from "./show-page.ts";
import { type TriedPage, tryPage } from "./try-page.ts";

export type TryFlags = {
  extract: string[];
  follow?: string;
  header: string[];
  method?: string;
  data?: string;
  handler?: string;
  carry?: unknown;
  ignoreRobots?: boolean;
  userAgent?: string;
  proxy: string[];
  waitFor?: string;
  json?: boolean;
} & PictureFlags;

/** `target`: a URL, a spider or a job. `givenUrl`: the page to try, if it is not the first URL of the target. */
type TryArguments = { target: string; givenUrl: string | undefined };

/** Runs the command. Resolves with the exit code. */
export async function tryOne({ target, givenUrl }: TryArguments, flags: TryFlags, screen: Screen): Promise<number> {
  const { job: written, urls } = await readTarget([target], { ...flags, include: [], exclude: [] });
  const job = withPictures(written, flags);
  const entry = givenUrl === undefined ? (written.urls?.[0] ?? urls[0] ?? "") : withRequestFlags(givenUrl, flags);
  const url = canonicalEntryUrl(entry);
  if (url === undefined) throw badUrl(urlOfEntry(entry));
  if (givenUrl !== undefined && urls[0] !== undefined && urlOfEntry(urls[0]) === target)
    throw usage(`${target} and ${givenUrl}: pass only one URL to try`);
  if (job.spider === undefined && (flags.handler !== undefined || flags.carry !== undefined)) {
    throw usage("--handler and --carry need a spider: trawl try spider.ts URL --handler NAME");
  }
  const config = await loadConfig({ userAgent: flags.userAgent, ...exitSettings(flags) }, process.cwd());
  const spec = resolveJob(job, config, {
    id: newJobId(0),
    requestId: newRequestId(0),
    queue: undefined,
    typedHosts: [new URL(url).hostname],
    out: undefined,
    recrawlSet: "-", // required for a job with recrawl; this command compares nothing
  });
  const selectors = new Map<string, boolean>();
  const read = await readerOf(config, spec, flags, (selector, hasMatched) => selectors.set(selector, hasMatched));
  const findUnmatched = () => [...selectors].flatMap(([selector, hasMatched]) => (hasMatched ? [] : [selector]));
  return tryPage(config, { spec, entry, keepsTab: spec.spider !== undefined }, (tried) =>
    show({ url, tried, spec, read, findUnmatched }, flags, screen),
  );
}

/**
 * Creates the reader of the job, which reads pages as a worker does. Throws BAD_USAGE for a handler that the spider
 * does not have.
 */
async function readerOf(
  config: Config,
  spec: JobSpec,
  { handler }: TryFlags,
  onSelector: OnSelector,
): Promise<PageReader> {
  const { handlerMs, requestBodyBytes } = config;
  // `trawl try` follows no links, so no body is queued.
  const bodySettings = { requestBodyBytes, bodies: undefined };
  const makePlan = createPlanMaker({
    makeExtractor: extractorOf,
    loadSpider: async (path) => withHandler(await loadSpider(path), handler),
    hashSpider: spiderHash,
    resolveSecret: createSecretResolver("all"),
    requestBodyBytes,
    version: VERSION,
    makeSpiderReader: (spider, inScope) => createSpiderReader(spider, inScope, { handlerMs, bodySettings, onSelector }),
  });
  return (await makePlan(spec)).read;
}

function withHandler(spider: Spider, name: string | undefined): Spider {
  const names = Object.keys(handlersOf(spider));
  if (name === undefined || names.includes(name)) return spider;
  throw usage(`--handler ${name} is not a handler of the spider; it has ${names.join(", ")}`);
}

type Trial = {
  url: string;
  tried: TriedPage;
  spec: JobSpec;
  read: PageReader;
  /** The selectors that the spider passed to `follow` and that matched nothing. Call it after `read`. */
  findUnmatched(): string[];
};

async function show(
  { url, tried, spec, read, findUnmatched }: Trial,
  flags: TryFlags,
  screen: Screen,
): Promise<number> {
  if (tried.outcome.kind !== "page") {
    const { kind: _, ...why } = tried.outcome;
    if (flags.json === true) await screen.out(`${JSON.stringify({ url, hops: tried.hops, ...why })}\n`);
    else screen.err(`${showable(`cannot fetch ${url}: ${why.detail}`)}\n`);
    return 1;
  }
  const { page, pictures = {}, open } = tried.outcome;
  await writePicture(flags.screenshot, pictures.screenshot, screen);
  await writePicture(flags.pdf, pictures.pdf, screen);
  const task = { depth: 0, ...(flags.handler === undefined ? {} : { handler: flags.handler }), carry: flags.carry };
  const signal = new AbortController().signal;
  let reading: ExtractedPage;
  try {
    reading = await read({ page, html: tried.text, task, signal, tab: open?.tab });
  } catch (error) {
    const location = errorLocation(error);
    const detail = `${shortMessage(String(error))}${location === undefined ? "" : ` at ${location}`}`;
    if (flags.json === true)
      await screen.out(`${JSON.stringify({ url: page.url, because: "handler_failed", detail })}\n`);
    else screen.err(`${showable(`handler ${flags.handler ?? "page"} failed on ${page.url}: ${detail}`)}\n`);
    return 1;
  }
  const { records, invalid, links, wanted } = reading;
  const times = { fetchedAt: Math.round(page.fetchedAt), tookMs: Math.round(page.tookMs) };
  const unmatched = findUnmatched();
  const followed = spec.spider === undefined ? { links } : { links: wanted.map((link) => link.url), wanted, unmatched };
  if (flags.json === true) {
    const result = { page: { ...page, ...times }, charset: tried.charset, records, invalid, ...followed };
    await screen.out(`${JSON.stringify(result)}\n`);
  } else await screen.out(showPage({ tried, page, reading, unmatched }, screen.outColumns()));
  return 0;
}

function usage(message: string): TrawlError {
  return new TrawlError("BAD_USAGE", { op: "cli.try", message });
}
