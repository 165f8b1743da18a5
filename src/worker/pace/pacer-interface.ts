/** What the lease loop and the HTTP client need from the pacer (pacer.ts). */
import type { ReturnedTerm, Term } from "../../domain/politeness.ts";
import type { Allowance } from "../../fetch/fetcher.ts";
import type { Claim, Grant } from "../../frontier/frontier.ts";
import type { Attempt, FetchedPage } from "../observe/task-observer.ts";

export type Pacer = {
  allowance: Allowance;
  /** Connects the pacer with the lease loop. */
  attach(loop: PacedLoop): void;
  /** How many tasks of each site have started and are not settled yet. Read it before a lease call. */
  unsettled(): SiteCounts;
  /** Adds the answer to a lease call. Tasks of sites without a rate start at once. */
  add(granted: { grants: readonly Grant[]; terms: readonly Term[] }, unsettledBefore: SiteCounts): void;
  /**
   * Called when a site has responded to a task. May slow the site down. If the response starts a backoff, nothing more
   * is sent to the site.
   */
  responded(attempt: Attempt, fetched: FetchedPage): void;
  /** A started task has a result or was aborted. If it has sent no request, another task may use its turn. */
  ended(claim: Claim): void;
  /**
   * How long the result of a started task may wait before it is settled, without delaying the next task of its site. 0
   * if no task waits for its start time, because the user then waits for this result. Also 0 if more than half of the
   * worker's concurrency is in use.
   */
  spareMs(claim: Claim): number;
  /** The worker is about to settle or release a started task. */
  settling(claim: Claim): void;
  /** A started task is settled or released: another task may start in its place. */
  over(claim: Claim): void;
  /** The number of tasks that have not started. */
  waiting(): number;
  /** The tasks that have not started. */
  unstarted(): Claim[];
  /** Removes a task whose lease is lost. Returns false if it has started or is unknown. */
  forget(claim: Claim): boolean;
  /** Whether a task could not be started in time since the last call. */
  wasLate(): boolean;
  /**
   * The terms to return with a lease call now, the tasks that could not be started within their term, and when to
   * collect again.
   */
  collect(): Collected & { nextAt: number };
  /**
   * Ends all terms except those of sites with waiting requests. Returns the ended terms and the waiting tasks, which
   * will not start.
   */
  drop(): Collected;
  /** Removes the waiting tasks of sites that have no term. */
  takeStranded(): Claim[];
  /** A crawl-delay was read. It applies at once. */
  slowDown(site: string, delayMs: number): void;
  stop(): void;
};

export type SiteCounts = ReadonlyMap<string, number>;

type Collected = { returned: ReturnedTerm[]; late: Claim[] };

export type PacedLoop = {
  start(grant: Grant): void;
  /** A term has few tasks left: `collect` and lease at this time. */
  onLow(at: number): void;
};
