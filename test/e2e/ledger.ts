/** The ledger that `--json` prints, and its one law. */
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

/** Checks that both sides of the ledger are equal. Written without the product's own sum on purpose. */
export function expectBalanced({ submitted, discovered, ...rest }: Ledger): void {
  const { queued, delayed, leased, done, dead, cancelled, duplicate, refused } = rest;
  expect(submitted + discovered).toBe(queued + delayed + leased + done + dead + cancelled + duplicate + refused);
}
