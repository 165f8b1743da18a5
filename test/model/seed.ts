/**
 * Settings of every property run. fast-check prints the seed of a failure; TRAWL_SEED runs it again and TRAWL_RUNS makes
 * more runs of it. Shrinking a failure may take long: the result at the time limit is shown.
 */
export function seeded(usualRuns: number): { numRuns: number; interruptAfterTimeLimit: number; seed?: number } {
  const { TRAWL_SEED: seed, TRAWL_RUNS: runs } = process.env;
  const numRuns = runs === undefined ? usualRuns : Number(runs);
  const limits = { numRuns, interruptAfterTimeLimit: 50_000 * Math.ceil(numRuns / usualRuns) };
  return seed === undefined ? limits : { ...limits, seed: Number(seed) };
}
