/** The job key `blocks`: what the job does after a block. */
import { z } from "zod";
import { BLOCK_STEPS, type BlockSpec, type BlockStep } from "../domain/block.ts";

export const blocksSchema = z.strictObject({
  steps: z
    .array(z.enum(BLOCK_STEPS, { error: `takes ${BLOCK_STEPS.join(", ")}` }))
    .max(20)
    .optional(),
  max: z.int().min(1).max(21).optional(),
});

type WrittenBlocks = z.output<typeof blocksSchema>;

/** Not `browser`: rendering needs other workers, so a job must list this step. */
const DEFAULT_STEPS: BlockStep[] = ["wait", "session", "proxy"];
const DEFAULT_MAX = 5;

export function blocksFrom({ steps = DEFAULT_STEPS, max = DEFAULT_MAX }: WrittenBlocks): BlockSpec {
  return { steps, max };
}

export function blocksAsWritten({ steps, max }: BlockSpec): WrittenBlocks {
  return {
    ...(JSON.stringify(steps) === JSON.stringify(DEFAULT_STEPS) ? {} : { steps: [...steps] }),
    ...(max === DEFAULT_MAX ? {} : { max }),
  };
}
