/** The job with its ledger, as `--json` prints it. */
import { expect } from "vitest";
import type { Ledger } from "../../src/domain/job.ts";

export type Summary = {
  id: string;
  name: string;
  state: string;
  counts: Ledger;
  pages: number;
  records: number;
  invalid: number;
  seconds: number;
  out?: string;
};

/** Checks that the ledger balances. Does not use the sum of src/, which would hide an error in it. */
export function expectBalanced({ submitted, discovered, ...rest }: Ledger): void {
  const { queued, delayed, leased, done, dead, cancelled, duplicate, refused } = rest;
  expect(submitted + discovered).toBe(queued + delayed + leased + done + dead + cancelled + duplicate + refused);
}
