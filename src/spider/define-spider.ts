/** The API of spiders: handlers that read pages, emit records and follow links. */
import type { CheerioAPI } from "cheerio/slim";
import type { Page as Tab } from "playwright-core";
import type { Fields, Page } from "../domain/page.ts";
import type { Method } from "../domain/request.ts";
import type { WrittenJob } from "../submit/job-schema.ts";
import type { RequestAnswer } from "./page-reader.ts";
import type { StandardSchema } from "./standard-schema.ts";

type FormValue = string | number | boolean;

/** The parts of a request besides its URL. */
export type RequestInit = {
  /** Default: GET, or POST with a body. */
  method?: Method | Lowercase<Method>;
  /** The body of the request. Set at most one of `json`, `form` and `body`. */
  json?: unknown;
  form?: Readonly<Record<string, FormValue | readonly FormValue[]>>;
  body?: string;
  /** Headers of this request, in addition to those of the job. */
  headers?: Readonly<Record<string, string>>;
};

export type FollowOptions = RequestInit & {
  /** The name of the handler for the page. Default: `page`. */
  to?: string;
  /** JSON value that the handler gets as `carry`, at most 16 KB. */
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
  /**
   * Sends one more request that the page needs, such as a call to an API, and waits for the response. The rate of the
   * site, robots.txt and retries apply as for pages. Rejects if the request fails, for example with status 404. The
   * response is not stored. For pages, use `follow`.
   */
  request(url: string, init?: RequestInit): Promise<RequestAnswer>;
};

export type Handler<Record extends Fields = Fields> = (context: PageContext<Record>) => void | Promise<void>;

/** What `login` of a spider gets. */
export type LoginContext = {
  /** Sends a request of the login. The cookies of the responses belong to the session. */
  request(url: string, init?: RequestInit): Promise<RequestAnswer>;
  session: {
    /** The value of a cookie of the session at the host of a URL. */
    cookie(url: string, name: string): string | undefined;
  };
};

/** Logs a session in. Throw an error if the login fails. */
export type SpiderLogin = (context: LoginContext) => void | Promise<void>;

type SharedKeys = Omit<WrittenJob, "urls" | "spider" | "extract" | "name" | "login">;

export type Spider<Record extends Fields = Fields> = SharedKeys & {
  name: string;
  /** Logs in, once per session: declared as in a job, or as a function. */
  login?: WrittenJob["login"] | SpiderLogin;
  /** URLs, and requests as objects. */
  start: readonly NonNullable<WrittenJob["urls"]>[number][];
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
