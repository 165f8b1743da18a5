/** A job as a worker runs it: compiled once, then used for every task of the job. */
import type { LinkFilter } from "../../discover/link-filter.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import type { Routing } from "../../domain/route.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { PageReader } from "../../spider/page-reader.ts";

export type JobPlan = {
  spec: JobSpec;
  /** When the job was created, by the broker's clock. */
  submittedAt?: number;
  read: PageReader;
  /** Whether the reader may use the open browser tab of a rendered page. */
  needsTab: boolean;
  linkFilter: LinkFilter | undefined;
  /**
   * A digest of everything that determines how a page is read. Two jobs with equal digests extract equal content from
   * it.
   */
  digestOf(grant: Pick<Grant, "handler" | "carry" | "depth">): string;
  /** The queue and priority of one URL. */
  routeOf(url: string): Routing;
  /** The job's headers for one URL. Headers with secrets are sent only to hosts that the user named. */
  headersFor(url: string): Readonly<Record<string, string>>;
};
