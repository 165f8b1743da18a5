/**
 * The interface of the code that reads the pages of a job: extraction rules or a spider. The worker calls it for every
 * page.
 */
import type { Page as Tab } from "playwright-core";
import type { FoundLinks } from "../discover/discover.ts";
import type { Fields, Page } from "../domain/page.ts";
import type { TaskRequest } from "../domain/request.ts";
import type { NewTask } from "../domain/task.ts";

/** The response to `request` in a handler. */
export type RequestAnswer = {
  /** The URL after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  text: string;
  /** Parses the text as JSON. Throws if it is not JSON. */
  json(): unknown;
};

/** Sends a request. `target` may be relative to the URL of the page. Rejects if the request fails. */
export type SendRequest = (target: string, request: TaskRequest | undefined) => Promise<RequestAnswer>;

export type PageInput = {
  page: Page;
  html: string;
  /** The task that fetched the page. */
  task: Pick<NewTask, "handler" | "carry" | "depth">;
  signal: AbortSignal;
  /** Undefined if no request may be sent, as when stored pages are read. */
  send?: SendRequest;
  /** The page in the browser, if it was rendered and the job's plan has `needsTab`. */
  tab: Tab | undefined;
};

/** The records and links of a page. */
export type ExtractedPage = FoundLinks & {
  records: readonly Fields[];
  invalid: readonly { fields: Fields; reason: string }[];
  /** The canonical URL to which a refresh of the page redirects. */
  refresh?: string;
};

/** Throws only the errors of a spider's handler. */
export type PageReader = (input: PageInput) => ExtractedPage | Promise<ExtractedPage>;
