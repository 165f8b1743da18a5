/** The API of spiders: handlers that read pages, emit records and follow links. */
import type { CheerioAPI } from "cheerio/slim";
import type { Page as Tab } from "playwright-core";
import type { Fields, Page } from "../domain/page.ts";
import type { JobInput } from "../submit/job-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

export type FollowOptions = {
  /** The name of the handler for the page. Default: `page`. */
  to?: string;
  /** Small JSON value that the handler gets as `carry`. */
  carry?: unknown;
  /** 0 is most urgent, 9 least. Default: the priority of the job. */
  priority?: number;
};

export type PageContext<Record extends Fields = Fields> = {
  /** The page's DOM, as cheerio. Parsed on first use. */
  readonly $: CheerioAPI;
  readonly url: string;
  readonly page: Page;
  readonly html: string;
  /**
   * The open page in the browser, as Playwright's `Page`, if the page was rendered. It closes when the handler has
   * ended. It cannot navigate to another page; use `follow` for that.
   */
  readonly tab: Tab | undefined;
  readonly depth: number;
  readonly carry: unknown;
  /** Aborts when the task must stop. Pass it to long-running calls. */
  readonly signal: AbortSignal;
  /**
   * Emits one record. It is checked against the schema of the spider; an invalid record is stored separately with the
   * reason.
   */
  emit(record: Record): void;
  /**
   * Follows links. A CSS selector follows the links of the elements that it matches, within the spider's link scope (by
   * default, the site of the page). A URL is followed even outside the link scope. A URL is absolute, has a path (`/a`,
   * `./a`, `products/1`) or a query (`?page=2`), or is the name of a page file (`page-2.html`).
   */
  follow(target: string | readonly string[], options?: FollowOptions): void;
};

export type Handler<Record extends Fields = Fields> = (context: PageContext<Record>) => void | Promise<void>;

export type Spider<Record extends Fields = Fields> = Omit<JobInput, "urls" | "spider" | "extract" | "name"> & {
  name: string;
  start: readonly string[];
  /** The default handler. */
  page: Handler<Record>;
  handlers?: Readonly<{ [name: string]: Handler<Record> }>;
  /** A Standard Schema (zod, valibot, arktype …) for records. The value that it returns is stored. */
  schema?: StandardSchema<Record>;
};

/** Declares a spider, typed by its schema. Use it as the default export of the module. */
export function defineSpider<Record extends Fields = Fields>(spider: Spider<Record>): Spider<Record> {
  return spider;
}
