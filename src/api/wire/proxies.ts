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
      ejectedUntil: z.string().nullable().describe("When the ejection at all sites ends."),
      ejectedAt: z.array(z.string()).describe("The sites where it is not healthy."),
      ...figures,
    }),
  ),
  providers: z.array(
    z.strictObject({
      provider: z.string(),
      site: z.string(),
      proxies: z.int().min(0).describe("The number of proxies of the provider that were used at the site."),
      ejected: z.int().min(0).describe("How many of them are ejected, at this site or at all sites."),
      ejectedUntil: z.string().nullable().describe("When the first of them is tried again."),
      ...figures,
    }),
  ),
});

export type ProxiesOut = z.output<typeof proxiesSchemaOut>;
