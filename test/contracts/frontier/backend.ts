/** What a backend provides to run the contract tests. */
import type { Frontier } from "../../../src/frontier/frontier.ts";
import type { FrontierAdmin } from "../../../src/frontier/frontier-admin.ts";
import type { ManualClock } from "../../model/manual-clock.ts";

export type AnyFrontier = Frontier & FrontierAdmin;

/** The start time of all contract tests. */
export const START_AT = 1_750_000_000_000;

export type BrokerOptions = { maxPending: number };

/** A new, empty broker with its frontier and its clock. */
export type Broker = { frontier: AnyFrontier; clock: ManualClock };

/** Features that only some backends have. */
export type Features = {
  /** Opens the same broker again with the same clock, as another process, or as the same process after a restart. */
  sharing: { another(broker: Broker): Promise<AnyFrontier> };
  /** Brokers that a frontier must refuse to open. */
  versions: { openNewer(): Promise<unknown>; openDamaged(): Promise<unknown> };
  /** The cost of a lease call. */
  costs: {
    /** Statements and rows of a lease call with `max` grants, in a broker with this content. */
    countLeaseWork(held: {
      readySites: number;
      blockedSites: number;
      tasksPerSite: number;
      max: number;
    }): Promise<number>;
    /** Statements of a lease call whose plan reads or sorts more rows than it returns. */
    listUnboundedPlans(): Promise<readonly string[]>;
  };
};

/** A feature that a backend does not have, and the reason. */
export type Gap = { gap: string; clauses: readonly string[] };

export type Backend = {
  open(options: BrokerOptions): Promise<Broker>;
  features: { [Name in keyof Features]: Features[Name] | Gap };
  /** Closes and removes everything that was opened. */
  cleanUp(): Promise<void>;
};

/** What each part of the contract uses. */
export type Suite = {
  open(options?: Partial<BrokerOptions>): Promise<Broker>;
  /** The name starts with the id of a clause. */
  test(name: string, run: () => Promise<void>): void;
  testWith<Name extends keyof Features>(
    feature: Name,
    name: string,
    run: (feature: Features[Name]) => Promise<void>,
  ): void;
};
