/** The job key `proxy`: which proxies and gateways the requests of the job go through. */
import { z } from "zod";
import { DEFAULT_EXIT_RULES, type JobExits } from "../domain/exit.ts";

const tag = z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/, "takes letters, digits and _ . : - (at most 64 characters)");

export const proxySchema = z.strictObject({
  /** `none`: the requests are sent directly. */
  use: z.union([z.literal("none"), z.array(tag).max(20)], { error: "takes a list of tags, or none" }).optional(),
  // biome-ignore lint/suspicious/noThenProperty: a list is never taken for a promise
  then: z.array(tag).max(10).optional(),
  rotate: z.enum(["request", "session", "site"]).optional(),
  region: tag.optional(),
  budget: z.int().min(0).max(1_000_000_000).optional(),
});

type WrittenExits = z.output<typeof proxySchema>;

export function exitsFrom({
  use = [],
  then: fallbacks = [],
  rotate = DEFAULT_EXIT_RULES.rotate,
  region,
  budget,
}: WrittenExits): JobExits {
  return use === "none" ? "none" : { use, fallbacks, rotate, region, budget };
}

export function exitsAsWritten(exits: JobExits): WrittenExits {
  if (exits === "none") return { use: "none" };
  const { use, fallbacks, rotate, region, budget } = exits;
  return {
    ...(use.length === 0 ? {} : { use: [...use] }),
    // biome-ignore lint/suspicious/noThenProperty: a list is never taken for a promise
    ...(fallbacks.length === 0 ? {} : { then: [...fallbacks] }),
    ...(rotate === DEFAULT_EXIT_RULES.rotate ? {} : { rotate }),
    ...(region === undefined ? {} : { region }),
    ...(budget === undefined ? {} : { budget }),
  };
}
