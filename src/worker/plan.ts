/** What a worker knows of a job, made once: how to read its pages, where its links may lead, what its limits are. */
import type { Page as Tab } from "playwright-core";
import type { Found } from "../discover/discover.ts";
import type { Scope } from "../discover/scope.ts";
import type { Fields, Page } from "../domain/page.ts";
import type { Routing } from "../domain/route.ts";
import type { Grant } from "../frontier/frontier.ts";
import type { JobSpec } from "../submit/job-spec.ts";

export type ReadInput = {
  page: Page;
  html: string;
  grant: Grant;
  signal: AbortSignal;
  /** The page in the browser, where it was rendered and `needsTab`. */
  tab: Tab | undefined;
};

/** What a page brought. */
export type Reading = Found & {
  records: readonly Fields[];
  invalid: readonly { fields: Fields; reason: string }[];
};

/** Throws only what a spider's handler throws. */
export type Reader = (input: ReadInput) => Reading | Promise<Reading>;

export type JobPlan = {
  spec: JobSpec;
  /** When the job was made, by the broker's clock. */
  submittedAt?: number;
  read: Reader;
  /** Whether whoever reads a rendered page may want it open in the browser. */
  needsTab: boolean;
  scope: Scope | undefined;
  /** Stands for how a page of the job is read: what two jobs read alike, they read the same from the same page. */
  readsOf(grant: Pick<Grant, "handler" | "carry" | "depth">): string;
  /** The queue and priority of one URL. */
  routeOf(url: string): Routing;
  /** The job's headers for one URL: those that hold a secret go to the sites it began at, and nowhere else. */
  headersFor(url: string): Readonly<Record<string, string>>;
};
