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
  /** A site responded to a task. It may be slowed down, and nothing more is sent to it if the response pauses it. */
  responded(attempt: Attempt, fetched: FetchedPage): void;
  /** A started task has a result or was aborted. If it has sent no request, another task may use its turn. */
  ended(claim: Claim): void;
  /** The worker is about to settle or release a started task. */
  settling(claim: Claim): void;
  /** A started task is settled or released: another task may start in its place. */
  over(claim: Claim): void;
  /** The number of tasks that have not started. */
  waiting(): number;
  /** Whether a task could not be started in time since the last call. */
  wasLate(): boolean;
  /**
   * The terms to return with a lease call now, the tasks that could not be started within their term, and when to
   * collect again.
   */
  collect(): Collected & { nextAt: number };
  /** Ends all terms. The waiting tasks will not start. */
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
