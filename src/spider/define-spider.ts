/** The user's code: handlers that take pages, emit records and follow links. */
import type { CheerioAPI } from "cheerio/slim";
import type { Page as Tab } from "playwright-core";
import type { Fields, Page } from "../domain/page.ts";
import type { JobInput } from "../submit/job-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

export type FollowOptions = {
  /** The handler that takes the page; the default one if not given. */
  to?: string;
  /** Small JSON handed to that handler as `carry`. */
  carry?: unknown;
  /** 0 is most urgent, 9 least; the job's own if not given. */
  priority?: number;
};

export type PageContext<Record extends Fields = Fields> = {
  /** The page's DOM, as cheerio. Parsed on first use. */
  readonly $: CheerioAPI;
  readonly url: string;
  readonly page: Page;
  readonly html: string;
  /**
   * The page in the browser, as Playwright's `Page`, where it was rendered; it closes when the
   * handler has ended. It does not go elsewhere: where a click would lead is a task of its own, see `follow`.
   */
  readonly tab: Tab | undefined;
  readonly depth: number;
  readonly carry: unknown;
  /** Aborts when the task must stop: pass it on to whatever takes long. */
  readonly signal: AbortSignal;
  /** One record of the output. Checked against the spider's schema; an invalid one is kept apart with the reason. */
  emit(record: Record): void;
  /**
   * Follows links: a CSS selector takes the links of what it finds, within the spider's scope (its own site by default);
   * a URL (absolute, or relative starting with `/`, `./` or `../`) is taken as it is.
   */
  follow(target: string | readonly string[], options?: FollowOptions): void;
};

export type Handler<Record extends Fields = Fields> = (context: PageContext<Record>) => void | Promise<void>;

export type Spider<Record extends Fields = Fields> = Omit<JobInput, "urls" | "spider" | "extract" | "name"> & {
  name: string;
  start: readonly string[];
  /** Takes every page without another handler. */
  page: Handler<Record>;
  handlers?: Readonly<{ [name: string]: Handler<Record> }>;
  /** Any Standard Schema (zod, valibot, arktype …) that records must pass; what it returns is what is stored. */
  schema?: StandardSchema<Record>;
};

/** Declares a spider, typed by its schema. Export it as the module's default. */
export function defineSpider<Record extends Fields = Fields>(spider: Spider<Record>): Spider<Record> {
  return spider;
}
