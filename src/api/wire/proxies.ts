/** The proxies of the fleet, as the API returns them. */
import { z } from "zod";

const figures = {
  requests: z.int().min(0),
  success: z.number().min(0).max(1).nullable(),
  blocked: z.int().min(0),
  averageMs: z.number().min(0).nullable(),
  bytes: z.int().min(0),
  cost: z.number().min(0),
};

export const proxiesSchemaOut = z.strictObject({
  proxies: z.array(
    z.strictObject({
      id: z.string(),
      proxy: z.string().describe("The URL without credentials."),
      provider: z.string(),
      tags: z.array(z.string()).readonly(),
      state: z.enum(["healthy", "ejected", "probation"]),
      ejectedAt: z.array(z.string()).describe("The sites where it is not healthy."),
      ...figures,
    }),
  ),
  providers: z.array(z.strictObject({ provider: z.string(), site: z.string(), ...figures })),
});

export type ProxiesOut = z.output<typeof proxiesSchemaOut>;
