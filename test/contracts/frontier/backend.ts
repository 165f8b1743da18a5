/** What a frontier must bring along to be put through the contract. */
import type { Frontier } from "../../../src/frontier/frontier.ts";
import type { FrontierAdmin } from "../../../src/frontier/frontier-admin.ts";
import type { ManualClock } from "../../model/manual-clock.ts";

export type AnyFrontier = Frontier & FrontierAdmin;

/** Where the clocks of all contract tests start. */
export const START_AT = 1_750_000_000_000;

export type BrokerOptions = { maxPending: number };

/** A fresh, empty broker, its frontier and the clock it goes by. */
export type Broker = { frontier: AnyFrontier; clock: ManualClock };

/** What only some backends can be asked for. */
export type Features = {
  /** One more handle on the same broker and clock, as another process has it, or the same one after a restart. */
  sharing: { another(broker: Broker): Promise<AnyFrontier> };
  /** Brokers that must be refused. */
  versions: { openNewer(): Promise<unknown>; openDamaged(): Promise<unknown> };
  /** What a lease call costs. */
  costs: {
    /** Statements made and rows read by a lease call of `max` grants in a broker that holds so much. */
    countLeaseWork(held: {
      readySites: number;
      blockedSites: number;
      tasksPerSite: number;
      max: number;
    }): Promise<number>;
    /** Every statement of a lease call whose plan walks or sorts more than it returns. */
    listUnboundedPlans(): Promise<readonly string[]>;
  };
};

/** A feature a backend does not have, and why that is right. */
export type Gap = { gap: string; clauses: readonly string[] };

export type Backend = {
  open(options: BrokerOptions): Promise<Broker>;
  features: { [Name in keyof Features]: Features[Name] | Gap };
  /** Closes and removes all that was opened. */
  cleanUp(): Promise<void>;
};

/** What a topic of the contract is written against. */
export type Suite = {
  open(options?: Partial<BrokerOptions>): Promise<Broker>;
  /** The name starts with the id of its clause. */
  test(name: string, run: () => Promise<void>): void;
  testWith<Name extends keyof Features>(
    feature: Name,
    name: string,
    run: (feature: Features[Name]) => Promise<void>,
  ): void;
};
