/** Blocks: responses with which a site refuses a crawler, and the steps that a job takes after them. Pure. */

/** The names of blocks: the signatures of fetch/http/block-signatures.ts, and two plain statuses. */
export const BLOCK_NAMES = [
  "cloudflare",
  "datadome",
  "perimeterx",
  "akamai",
  "captcha",
  "status 403",
  "status 429",
] as const;
export type BlockName = (typeof BLOCK_NAMES)[number];

/** What the next attempt of a blocked page does differently. */
export const BLOCK_STEPS = ["wait", "session", "proxy", "browser"] as const;
export type BlockStep = (typeof BLOCK_STEPS)[number];

/** The key `blocks` of a job. */
export type BlockSpec = {
  /** The first block of a page leads to the first step, the second block to the second, and so on. */
  steps: readonly BlockStep[];
  /** A page fails after this many blocked attempts, even if steps are left. */
  max: number;
};

/** What has been done about the blocks of a page so far. */
export type BlockState = {
  /** The steps taken, one for each block. */
  taken: readonly BlockStep[];
  /** The index of the next step in `steps`. It is larger than the length of `taken` if steps were skipped. */
  next: number;
};

export const NEVER_BLOCKED: BlockState = { taken: [], next: 0 };

/** The step after one more block, and the state after this step. Undefined if the page has failed. */
export function stepAfterBlock(
  { steps, max }: BlockSpec,
  { taken, next }: BlockState,
  isPossible: (step: BlockStep) => boolean,
): { step: BlockStep; state: BlockState } | undefined {
  if (taken.length + 1 >= max) return undefined;
  const at = steps.findIndex((step, index) => index >= next && isPossible(step));
  const step = steps[at];
  return step === undefined ? undefined : { step, state: { taken: [...taken, step], next: at + 1 } };
}

/** The proxy tier of the next attempt: each step `proxy` leads to the next tier. */
export function tierOf({ taken }: BlockState): number {
  return taken.filter((step) => step === "proxy").length;
}
