/** Reads the pages of a job with the handlers of its spider. */
import { type CheerioAPI, load } from "cheerio/slim";
import type { RequestedLink } from "../discover/discover.ts";
import { createLinkResolver } from "../domain/canonical-url.ts";
import type { Fields } from "../domain/page.ts";
import type { BodySettings } from "../domain/request.ts";
import { withTimeout } from "../runtime/with-timeout.ts";
import type { FollowOptions, Handler, PageContext, Spider } from "./define-spider.ts";
import type { ExtractedPage, PageInput, PageReader } from "./page-reader.ts";
import { checkCarry, jsonOf, requestFrom } from "./request-options.ts";
import { issuesText } from "./standard-schema.ts";
import { isUrlTarget } from "./url-target.ts";

/** Returns a test for the links that a selector matches: whether they are in the link scope of the job. */
type InScope = (pageUrl: string, depth: number) => (url: string) => boolean;

/** Receives each selector of `follow` when it is first used, and again when it first matches an element. */
export type OnSelector = (selector: string, hasMatched: boolean) => void;

type SpiderReaderOptions = {
  onSelector?: OnSelector | undefined;
  /** A handler that takes longer fails: its signal is aborted, and the worker no longer waits for it. */
  handlerMs: number;
  /** The limits of the bodies of requests. */
  bodySettings: BodySettings;
};

/** The handlers of a spider by name, including `page`. */
export function handlersOf({ page, handlers }: Spider): Readonly<Record<string, Handler>> {
  return { page, ...handlers };
}

/** Runs the handler of a page, and checks the records that it emits. Rethrows the errors of the handler. */
export function createSpiderReader(spider: Spider, inScope: InScope, options: SpiderReaderOptions): PageReader {
  const { handlerMs, bodySettings } = options;
  const onSelector = reportOnce(options.onSelector);
  return async (input) => {
    const emitted: Fields[] = [];
    const wanted: RequestedLink[] = [];
    const handler = handlerFor(spider, input.task.handler);
    await withinTimeLimit(handlerMs, input.signal, async (signal) =>
      handler(contextOf({ ...input, signal }, emitted, wanted, { spider, inScope, onSelector, bodySettings })),
    );
    return { ...(await checkRecords(spider, emitted)), wanted, links: [] };
  };
}

async function withinTimeLimit(
  limitMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const own = new AbortController();
  const stop = () => own.abort(outer.reason);
  outer.addEventListener("abort", stop, { once: true });
  const aborted = new Promise<never>((_, reject) => {
    own.signal.addEventListener("abort", () => reject(own.signal.reason), { once: true });
  });
  try {
    const late = () => new Error(`the handler took longer than ${limitMs} ms`);
    await withTimeout({ limitMs, abort: own, late }, (signal) => Promise.race([work(signal), aborted]));
  } finally {
    outer.removeEventListener("abort", stop);
  }
}

/** The maximum number of selectors that are reported. Some spiders build selectors from the content of pages. */
const MAX_SELECTORS = 100;

/** Reports a selector when it is first used, and when it first matches. */
function reportOnce(report: OnSelector | undefined): OnSelector {
  const matches = new Map<string, boolean>();
  return (selector, hasMatched) => {
    const known = matches.get(selector);
    if (report === undefined || known === true || known === hasMatched) return;
    if (known === undefined && matches.size >= MAX_SELECTORS) return;
    matches.set(selector, hasMatched);
    report(selector, hasMatched);
  };
}

function handlerFor(spider: Spider, name: string | undefined): Handler {
  if (name === undefined) return spider.page;
  const handlers = handlersOf(spider);
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler !== undefined) return handler;
  throw new Error(`spider ${spider.name} has no handler ${name}; it has ${Object.keys(handlers).join(", ")}`);
}

function contextOf(
  input: PageInput,
  emitted: Fields[],
  wanted: RequestedLink[],
  {
    spider,
    inScope,
    onSelector,
    bodySettings,
  }: { spider: Spider; inScope: InScope; onSelector: OnSelector; bodySettings: BodySettings },
): PageContext {
  const { page, html, task, signal, tab } = input;
  let dom: CheerioAPI | undefined;
  const $ = () => {
    dom ??= load(html, { xml: { xmlMode: false, decodeEntities: true } });
    return dom;
  };
  return {
    get $() {
      return $();
    },
    url: page.url,
    page,
    html,
    tab,
    depth: task.depth,
    carry: task.carry,
    signal,
    async request(url, init = {}) {
      if (input.send === undefined) throw new Error("request: no request can be sent while stored pages are read");
      return input.send(url, requestFrom(init, "request", { ...bodySettings, bodies: undefined }));
    },
    emit: (record) => void emitted.push(copyOf(record)),
    follow(target, options = {}) {
      const request = requestOptions(options, spider, bodySettings);
      const isInScope = inScope(page.url, task.depth);
      for (const one of typeof target === "string" ? [target] : target) {
        const found = isUrlTarget(one) ? undefined : $()(one);
        if (found !== undefined) onSelector(one, found.length > 0);
        for (const url of found === undefined
          ? explicit(one, page.url)
          : linksOf($(), found, page.url).filter(isInScope)) {
          wanted.push({ url, ...request });
        }
      }
    },
  };
}

/**
 * Copies a record, so that later changes to the object do not affect it. `checkRecords` refuses values that are not
 * objects.
 */
function copyOf(record: Fields): Fields {
  const isPlain = typeof record === "object" && record !== null && !Array.isArray(record) && !("toJSON" in record);
  return isPlain ? { ...record } : record;
}

function explicit(href: string, pageUrl: string): string[] {
  const url = createLinkResolver(pageUrl)(href);
  return url === undefined ? [] : [url];
}

function linksOf($: CheerioAPI, found: ReturnType<CheerioAPI>, pageUrl: string): string[] {
  const resolve = createLinkResolver($("base[href]").first().attr("href") === undefined ? pageUrl : baseOf($, pageUrl));
  const links = found.filter("[href], [src]").add(found.find("a[href]"));
  return [...links].flatMap((element) => {
    const href = $(element).attr("href") ?? $(element).attr("src");
    const url = href === undefined ? undefined : resolve(href);
    return url === undefined ? [] : [url];
  });
}

function baseOf($: CheerioAPI, pageUrl: string): string {
  const href = $("base[href]").first().attr("href");
  return (href === undefined ? undefined : createLinkResolver(pageUrl)(href)) ?? pageUrl;
}

/**
 * Checks the options of `follow`. The frontier stores these values, and an invalid value would crash the worker there.
 * Checked here, it fails only the page.
 */
function requestOptions(
  { to, carry, priority, ...parts }: FollowOptions,
  spider: Spider,
  bodySettings: BodySettings,
): Omit<RequestedLink, "url"> {
  if (to !== undefined && typeof to !== "string") throw new Error("follow: `to` takes the name of a handler");
  handlerFor(spider, to);
  if (carry !== undefined) checkCarry(carry);
  if (priority !== undefined && !(Number.isInteger(priority) && priority >= 0 && priority <= 9)) {
    throw new Error(`follow: \`priority\` takes a whole number from 0 to 9, not ${String(priority)}`);
  }
  return {
    ...(to === undefined ? {} : { handler: to }),
    ...(carry === undefined ? {} : { carry }),
    ...(priority === undefined ? {} : { priority }),
    ...requestField(parts, bodySettings),
  };
}

function requestField(parts: object, settings: BodySettings): Pick<RequestedLink, "request"> {
  const request = requestFrom(parts, "follow", settings);
  return request === undefined ? {} : { request };
}

async function checkRecords(
  spider: Spider,
  emitted: readonly Fields[],
): Promise<Pick<ExtractedPage, "records" | "invalid">> {
  const { records, invalid } = await bySchema(spider, emitted);
  for (const fields of [...records, ...invalid.map((one) => one.fields)]) {
    // Checked here, so that an invalid record fails only this page. In the store it would fail the whole batch.
    if (!jsonOf(fields, "emit: a record").startsWith("{"))
      throw new Error("emit: takes an object with one key per field");
  }
  return { records, invalid };
}

async function bySchema(
  { schema }: Spider,
  emitted: readonly Fields[],
): Promise<{ records: readonly Fields[]; invalid: readonly { fields: Fields; reason: string }[] }> {
  if (schema === undefined) return { records: emitted, invalid: [] };
  const records: Fields[] = [];
  const invalid: { fields: Fields; reason: string }[] = [];
  for (const fields of emitted) {
    const result = await schema["~standard"].validate(fields);
    if (result.issues === undefined) records.push(result.value as Fields);
    else invalid.push({ fields, reason: issuesText(result.issues) });
  }
  return { records, invalid };
}
