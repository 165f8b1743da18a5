/**
 * Remembers URLs this process has found to be seen, so that the links every page of a site repeats cost no look-up.
 * Only ever answers "seen" for what a committed step has put in the file, so a miss costs a look-up and nothing else.
 * Direct-mapped: a newer URL takes the place of an older one with the same low bits.
 */
import type { Fingerprint } from "../../domain/fingerprint.ts";

const SLOTS = 2 ** 18; // 3 MB; a site of 20,000 pages fits with few collisions

export type SeenCache = {
  has(scope: number, fingerprint: Fingerprint): boolean;
  add(scope: number, fingerprint: Fingerprint): void;
};

export function createSeenCache(): SeenCache {
  const scopes = new Int32Array(SLOTS);
  const highs = new Uint32Array(SLOTS);
  const lows = new Uint32Array(SLOTS);
  const slotOf = (scope: number, { low }: Fingerprint) => (low ^ Math.imul(scope, 0x9e3779b1)) & (SLOTS - 1);
  return {
    has(scope, fingerprint) {
      const slot = slotOf(scope, fingerprint);
      // Scopes count from 1: an empty slot matches none.
      return scopes[slot] === scope && highs[slot] === fingerprint.high && lows[slot] === fingerprint.low;
    },
    add(scope, fingerprint) {
      const slot = slotOf(scope, fingerprint);
      scopes[slot] = scope;
      highs[slot] = fingerprint.high;
      lows[slot] = fingerprint.low;
    },
  };
}
