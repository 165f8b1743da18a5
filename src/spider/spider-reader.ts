/** Runs a spider's handlers as the reader of a job's pages. */
import { type CheerioAPI, load } from "cheerio/slim";
import type { Wanted } from "../discover/discover.ts";
import { createLinkResolver } from "../domain/canonical-url.ts";
import type { Fields } from "../domain/page.ts";
import { withDeadline } from "../runtime/with-deadline.ts";
import type { Reader, ReadInput, Reading } from "../worker/plan.ts";
import type { FollowOptions, Handler, PageContext, Spider } from "./define-spider.ts";
import { issuesInWords } from "./standard-schema.ts";

/** How a selector's links are judged: within the job's scope. */
export type InScope = (pageUrl: string, depth: number) => (url: string) => boolean;

export type SpiderReaderOptions = {
  /** A handler that takes longer has failed: its signal is aborted, and nobody waits for it any more. */
  handlerMs: number;
};

/** Runs the handler that a page is for, and checks what it emits. Throws what the handler throws. */
export function createSpiderReader(spider: Spider, inScope: InScope, { handlerMs }: SpiderReaderOptions): Reader {
  return async (input) => {
    const emitted: Fields[] = [];
    const wanted: Wanted[] = [];
    const handler = handlerFor(spider, input.grant.handler);
    await within(handlerMs, input.signal, async (signal) =>
      handler(contextOf({ ...input, signal }, emitted, wanted, inScope)),
    );
    return { ...(await checkRecords(spider, emitted)), wanted, links: [] };
  };
}

async function within(
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
    await withDeadline({ limitMs, abort: own, late }, (signal) => Promise.race([work(signal), aborted]));
  } finally {
    outer.removeEventListener("abort", stop);
  }
}

function handlerFor(spider: Spider, name: string | undefined): Handler {
  if (name === undefined) return spider.page;
  const handlers = spider.handlers ?? {};
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler !== undefined) return handler;
  const known = Object.keys(spider.handlers ?? {}).join(", ");
  throw new Error(`spider ${spider.name} has no handler ${name}; it has: ${known === "" ? "only page" : known}`);
}

function contextOf(input: ReadInput, emitted: Fields[], wanted: Wanted[], inScope: InScope): PageContext {
  const { page, html, grant, signal, tab } = input;
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
    depth: grant.depth,
    carry: grant.carry,
    signal,
    emit: (record) => void emitted.push(copyOf(record)),
    follow(target, options = {}) {
      const isNear = inScope(page.url, grant.depth);
      for (const one of typeof target === "string" ? [target] : target) {
        for (const url of isUrl(one) ? explicit(one, page.url) : linksOf($(), one, page.url).filter(isNear)) {
          wanted.push({ url, ...wantedOptions(options) });
        }
      }
    },
  };
}

/** What the handler does to its object afterwards is not part of the record. What is no plain object is refused later. */
function copyOf(record: Fields): Fields {
  const isPlain = typeof record === "object" && record !== null && !Array.isArray(record) && !("toJSON" in record);
  return isPlain ? { ...record } : record;
}

/** A selector never starts like these. */
function isUrl(target: string): boolean {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|\/|\.\.?\/|\?)/i.test(target);
}

function explicit(href: string, pageUrl: string): string[] {
  const url = createLinkResolver(pageUrl)(href);
  return url === undefined ? [] : [url];
}

function linksOf($: CheerioAPI, selector: string, pageUrl: string): string[] {
  const resolve = createLinkResolver($("base[href]").first().attr("href") === undefined ? pageUrl : baseOf($, pageUrl));
  const found = $(selector);
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

/** The frontier keeps these: what it could not write would stop the whole worker, and not just this page. */
function wantedOptions({ to, carry, priority }: FollowOptions): Omit<Wanted, "url"> {
  if (to !== undefined && typeof to !== "string") throw new Error("follow: `to` takes the name of a handler");
  if (carry !== undefined) jsonOf(carry, "follow: `carry`");
  if (priority !== undefined && !(Number.isInteger(priority) && priority >= 0 && priority <= 9)) {
    throw new Error(`follow: \`priority\` takes a whole number from 0 to 9, not ${String(priority)}`);
  }
  return {
    ...(to === undefined ? {} : { handler: to }),
    ...(carry === undefined ? {} : { carry }),
    ...(priority === undefined ? {} : { priority }),
  };
}

async function checkRecords(spider: Spider, emitted: readonly Fields[]): Promise<Pick<Reading, "records" | "invalid">> {
  const { records, invalid } = await bySchema(spider, emitted);
  for (const fields of [...records, ...invalid.map((one) => one.fields)]) {
    // Checked here, where it is this page's failure: in the store it would take the records of other pages down with it.
    if (!jsonOf(fields, "emit: a record").startsWith("{")) throw new Error("emit: takes an object, one field a key");
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
    else invalid.push({ fields, reason: issuesInWords(result.issues) });
  }
  return { records, invalid };
}

function jsonOf(value: unknown, what: string): string {
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) return json;
    throw new TypeError(`it is a ${typeof value}`);
  } catch (cause) {
    const [reason] = (cause as Error).message.split("\n");
    throw new Error(`${what} cannot be written as JSON: ${reason}`, { cause });
  }
}
