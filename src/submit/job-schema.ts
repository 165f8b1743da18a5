/** A job as users write it: on the command line, in a file, over HTTP or in a spider. Unknown keys are errors. */

import { z } from "zod";
import { parseDurationMs } from "../domain/duration.ts";
import { QUEUE_NAME } from "../domain/queue-name.ts";
import { parseRate } from "../domain/rate.ts";
import { rulesSchema } from "../extract/rules.ts";
import { authSchema } from "./auth-schema.ts";
import { blocksSchema } from "./block-schema.ts";
import { browserSchema } from "./browser-schema.ts";
import { globSchema } from "./glob-schema.ts";
import { headersSchema } from "./header-schema.ts";
import { profileSchema } from "./profile-schema.ts";
import { proxySchema } from "./proxy-schema.ts";
import { sessionKeys } from "./session-schema.ts";
import { sitemapsSchema } from "./sitemap-schema.ts";
import { entrySchema } from "./url-entry.ts";
import { webhookSchema } from "./webhook-schema.ts";

export const rate = z
  .string()
  .refine((text) => parseRate(text) !== undefined, {
    error: (issue) => `takes a rate such as 4/s, 10/m or unlimited, not ${JSON.stringify(issue.input)}`,
  })
  .meta({ examples: ["4/s", "10/m", "unlimited"] });
const duration = z
  .union([z.string(), z.number()])
  .refine((text) => parseDurationMs(text) !== undefined, {
    error: (issue) => `takes a duration such as 500ms, 1s or 24h, not ${JSON.stringify(issue.input)}`,
  })
  .meta({ examples: ["500ms", "1s", "24h"] });
/** Its syntax is not checked here, but when it is compiled. */
const selector = z.string().meta({ examples: ["a[href]", ".next a"] });
const sitePolicy = {
  rate: rate.optional(),
  burst: z.int().min(1).max(1000).optional(),
  perSite: z.int().min(1).max(1000).optional(),
};

/** A name that is shown in terminals and tables. A lone surrogate or a NUL would break the display. */
export const nameText = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !/\p{Surrogate}|\0/u.test(text), "contains a lone surrogate or a NUL")
  .meta({ examples: ["shop", "News, daily"] });

/** The key `politeness` of a job. */
export const politenessSchema = z.strictObject({
  ...sitePolicy,
  robots: z.boolean().optional(),
  adaptive: z.boolean().optional(),
  /** Whether `noindex` and `nofollow` in pages and in X-Robots-Tag are obeyed (docs/politeness.md). */
  metaRobots: z.boolean().optional(),
  sites: z.record(z.string(), z.strictObject(sitePolicy)).optional(),
});

export const jobSchema = z.strictObject({
  name: nameText.optional(),
  urls: z.array(entrySchema).optional(),
  /** Fetches the pages that sitemaps list (docs/sitemaps.md). */
  sitemaps: sitemapsSchema.optional(),
  spider: z.string().optional(),
  /** Without it, only the listed URLs are fetched. */
  follow: z
    .strictObject({
      links: selector.optional(),
      scope: z.enum(["site", "domain", "any"]).optional(),
      include: z.array(globSchema).optional(),
      exclude: z.array(globSchema).optional(),
      maxDepth: z.int().min(0).max(10_000).optional(),
    })
    .optional(),
  extract: rulesSchema.optional(),
  politeness: politenessSchema.optional(),
  retries: z
    .strictObject({
      max: z.int().min(0).max(20).optional(),
      backoff: duration.optional(),
      /** Whether a request that may change data, such as a POST, may be sent again after a failure or a crash. */
      unsafe: z.boolean().optional(),
    })
    .optional(),
  limits: z
    .strictObject({
      pages: z.int().min(1).optional(),
      seconds: z.number().positive().optional(),
      bodyBytes: z.int().min(1000).max(2_000_000_000).optional(),
    })
    .optional(),
  queue: z.string().regex(QUEUE_NAME, "takes letters, digits and _ . : - (at most 64 characters)").optional(),
  priority: z.int().min(0).max(9).optional(),
  /** Whether pages are rendered in a browser. */
  render: z.enum(["never", "auto", "always"], { error: "takes never, auto or always" }).optional(),
  browser: browserSchema.optional(),
  parse: z.enum(["inline", "queue"]).optional(),
  headers: headersSchema.optional(),
  /** Credentials by origin. Each is sent only to its own origin. */
  auth: authSchema.optional(),
  ...sessionKeys,
  proxy: proxySchema.optional(),
  /** The browsers whose headers the requests have (docs/blocks.md). */
  profile: profileSchema.optional(),
  /** What the job does after a block (docs/blocks.md). */
  blocks: blocksSchema.optional(),
  dedup: z.strictObject({ scope: z.string().min(1).max(100), expireAfter: duration.optional() }).optional(),
  /** Compares each page with the page that an earlier job of the same recrawl set fetched (docs/recrawl.md). */
  recrawl: z
    .strictObject({
      set: z
        .string()
        .regex(QUEUE_NAME, {
          error: (issue) =>
            `takes letters, digits and _ . : - (at most 64 characters), not ${JSON.stringify(issue.input)}`,
        })
        .optional(),
      emit: z.enum(["all", "changed"]).optional(),
    })
    .optional(),
  keep: z
    .strictObject({ bodies: z.boolean().optional(), pages: z.boolean().optional(), records: z.boolean().optional() })
    .optional(),
  webhook: webhookSchema.optional(),
});

/** A job as users write it: `urls` may contain requests as objects. */
export type WrittenJob = z.input<typeof jobSchema>;
/** A parsed job. Each of its `urls` is a text: a URL, or a request as JSON (url-entry.ts). */
export type JobInput = z.output<typeof jobSchema>;
