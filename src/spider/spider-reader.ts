/** Runs a spider's handlers as the reader of a job's pages. */
import { type CheerioAPI, load } from "cheerio/slim";
import type { Wanted } from "../discover/discover.ts";
import { createLinkResolver } from "../domain/canonical-url.ts";
import type { Fields } from "../domain/page.ts";
import type { Reader, ReadInput, Reading } from "../worker/plan.ts";
import type { FollowOptions, Handler, PageContext, Spider } from "./define-spider.ts";
import { issuesInWords } from "./standard-schema.ts";

/** How a selector's links are judged: within the job's scope. */
export type InScope = (pageUrl: string, depth: number) => (url: string) => boolean;

export function createSpiderReader(spider: Spider, inScope: InScope): Reader {
  return async (input) => {
    const emitted: Fields[] = [];
    const wanted: Wanted[] = [];
    await handlerFor(spider, input.grant.handler)(contextOf(input, emitted, wanted, inScope));
    return { ...(await checkRecords(spider, emitted)), wanted, links: [] };
  };
}

function handlerFor(spider: Spider, name: string | undefined): Handler {
  if (name === undefined) return spider.page;
  const handler = spider.handlers?.[name];
  if (handler !== undefined) return handler;
  const known = Object.keys(spider.handlers ?? {}).join(", ");
  throw new Error(`spider ${spider.name} has no handler ${name}; it has: ${known === "" ? "only page" : known}`);
}

function contextOf(input: ReadInput, emitted: Fields[], wanted: Wanted[], inScope: InScope): PageContext {
  const { page, html, grant, signal } = input;
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
    depth: grant.depth,
    carry: grant.carry,
    signal,
    emit: (record) => void emitted.push(record),
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

function wantedOptions({ to, carry, priority }: FollowOptions): Omit<Wanted, "url"> {
  return {
    ...(to === undefined ? {} : { handler: to }),
    ...(carry === undefined ? {} : { carry }),
    ...(priority === undefined ? {} : { priority }),
  };
}

async function checkRecords(spider: Spider, emitted: readonly Fields[]): Promise<Pick<Reading, "records" | "invalid">> {
  const { schema } = spider;
  if (schema === undefined) return { records: emitted, invalid: [] };
  const records: Fields[] = [];
  const invalid: { fields: Fields; reason: string }[] = [];
  for (const fields of emitted) {
    const result = await schema["~standard"].validate(fields);
    if (result.issues === undefined) records.push(result.value);
    else invalid.push({ fields, reason: issuesInWords(result.issues) });
  }
  return { records, invalid };
}
