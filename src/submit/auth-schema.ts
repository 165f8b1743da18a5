/** The key `auth` of a job: the credentials of origins. */
import { z } from "zod";
import { canonicalUrl } from "../domain/canonical-url.ts";
import type { Credentials } from "../domain/job-spec.ts";
import { originOf } from "../domain/site.ts";
import { TrawlError } from "../errors.ts";
import { HEADER_VALUE } from "./header-schema.ts";

const MAX_ORIGINS = 1_000;
const NOT_ORIGIN = "is not an origin; use scheme, host and port, such as https://a.example or http://a.example:8080";

const bearer = z.string().min(1).max(8_000).regex(HEADER_VALUE, "contains characters that are not allowed in a header");

export const authSchema = z
  .record(
    z.string().refine((text) => canonicalOrigin(text) !== undefined),
    z
      .strictObject({
        basic: z.strictObject({ user: z.string().max(2_000), password: z.string().max(2_000) }).optional(),
        bearer: bearer.optional(),
      })
      .refine(({ basic, bearer: token }) => (basic === undefined) !== (token === undefined), {
        error: "takes either basic: { user, password } or bearer",
      }),
    { error: ({ code }) => (code === "invalid_key" ? NOT_ORIGIN : undefined) },
  )
  .refine((auth) => Object.keys(auth).length <= MAX_ORIGINS, { error: `takes at most ${MAX_ORIGINS} origins` });

export type AuthInput = z.output<typeof authSchema>;

/** The credentials by canonical origin. Throws BAD_JOB if two keys are the same origin. */
export function authFrom(auth: AuthInput): Readonly<Record<string, Credentials>> {
  const found = new Map<string, Credentials>();
  for (const [text, { basic, bearer: token = "" }] of Object.entries(auth)) {
    const origin = canonicalOrigin(text) ?? text;
    if (found.has(origin)) {
      const message = `auth.${text}: is the same origin as another key, ${origin}; remove one of them`;
      throw new TrawlError("BAD_JOB", { op: "submit.resolveJob", message });
    }
    found.set(origin, basic === undefined ? { bearer: token } : { basic });
  }
  return Object.fromEntries(found);
}

/** The origin in its canonical form: in lower case, without the default port. Undefined if the text is no origin. */
export function canonicalOrigin(text: string): string | undefined {
  const url = /^https?:\/\/[^/?#@]+\/?$/i.test(text) ? canonicalUrl(text) : undefined;
  return url === undefined ? undefined : originOf(url);
}
