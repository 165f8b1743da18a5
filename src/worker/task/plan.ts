/** A job as a worker runs it: compiled once, then used for every task of the job. */
import type { LinkFilter } from "../../discover/link-filter.ts";
import type { SitemapScope } from "../../discover/sitemap/sitemap-scope.ts";
import type { ProfileName } from "../../domain/header-profile.ts";
import type { JobSpec } from "../../domain/job-spec.ts";
import type { Routing } from "../../domain/route.ts";
import type { ExitUse } from "../../fetch/fetcher.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { PageReader, SendRequest } from "../../spider/page-reader.ts";

type FindCookie = (url: string, name: string) => string | undefined;

/** The part of a task that determines its headers. */
export type RequestedTask = Pick<Grant, "url" | "depth" | "redirects"> & { request?: Grant["request"] | undefined };

export type JobPlan = {
  spec: JobSpec;
  /** The login of a spider. Rejects with the reason if the login fails. */
  logIn?: ((login: { send: SendRequest; findCookie: FindCookie }) => Promise<void>) | undefined;
  /** Replaces a reference to a secret by its value. Throws BAD_SECRET. */
  resolveSecret(text: string): string;
  /** When the job was created, by the broker's clock. */
  submittedAt?: number;
  read: PageReader;
  /** Whether the reader may use the open browser tab of a rendered page. */
  needsTab: boolean;
  linkFilter: LinkFilter | undefined;
  /** Which entries of sitemaps become tasks. */
  sitemapScope: SitemapScope;
  /**
   * A digest of everything that determines how a page is read. Two jobs with equal digests extract equal content from
   * it.
   */
  digestOf(grant: Pick<Grant, "handler" | "carry" | "depth">): string;
  /** The proxies and gateways of its requests. */
  exits: ExitUse;
  /** The queue and priority of one URL. */
  routeOf(url: string): Routing;
  /**
   * The headers of a request: those of the job, and those of the request itself. Headers of the job that may contain
   * secrets are sent only to the origins of the job's own URLs.
   */
  headersFor(task: RequestedTask): Readonly<Record<string, string>>;
  /** The header profile of a request: one for each session or, without a session, for each site. */
  profileFor?: ((site: string, session: { identity: number } | undefined) => ProfileName | undefined) | undefined;
};
