/** The keys of a job that give it sessions: `cookies`, `sessions` and `login`. */
import { z } from "zod";
import { canonicalUrl } from "../domain/canonical-url.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import type { LoginSpec, SessionSpec } from "../domain/session-spec.ts";
import { TrawlError } from "../errors.ts";
import type { blocksSchema } from "./block-schema.ts";
import { globSchema } from "./glob-schema.ts";
import { jsonValue } from "./url-entry.ts";

const httpUrl = z.string().refine((text) => canonicalUrl(text) !== undefined, {
  error: (issue) => `takes an absolute http(s) URL, not ${JSON.stringify(issue.input)}`,
});
const rule = z
  .string()
  .min(1)
  .max(2_000)
  .meta({ examples: ["input[name=csrf]@value"] });
const name = z.string().min(1).max(200);

export const loginSchema = z.strictObject({
  url: httpUrl,
  action: httpUrl.optional(),
  fields: z.record(name, rule).optional(),
  form: z.record(name, z.string().max(8_000)).optional(),
  json: z.record(name, jsonValue).optional(),
  check: z.strictObject({ cookie: name.optional(), selector: rule.optional(), url: globSchema.optional() }).optional(),
  expired: z
    .strictObject({
      status: z.array(z.int().min(100).max(599)).optional(),
      redirect: globSchema.optional(),
      selector: rule.optional(),
    })
    .optional(),
});

export const sessionKeys = {
  /** Whether the job keeps cookies. */
  cookies: z.boolean().optional(),
  sessions: z
    .strictObject({
      count: z.int().min(1).max(1_000).optional(),
      per: z.enum(["job", "site"]).optional(),
      rotateAfter: z.int().min(1).optional(),
    })
    .optional(),
  login: loginSchema.optional(),
};

type SessionInput = {
  cookies?: boolean | undefined;
  sessions?: z.output<(typeof sessionKeys)["sessions"]>;
  login?: z.output<(typeof sessionKeys)["login"]>;
  blocks?: z.output<typeof blocksSchema> | undefined;
};

/** `401`: the request needs a login. */
const EXPIRED_STATUS = [401];

/** The sessions and the login of a job; empty for a job without sessions. Throws BAD_JOB. */
export function sessionsFrom({ cookies, sessions, login, blocks }: SessionInput): Pick<JobSpec, "sessions" | "login"> {
  // The scripts of a challenge page set a cookie that the next requests need.
  const needsCookies = blocks?.steps?.includes("browser") === true;
  if (cookies === false && needsCookies) {
    throw bad("cookies: false cannot be combined with the step browser of blocks.steps; remove one of them");
  }
  if (cookies === false && (sessions !== undefined || login !== undefined)) {
    throw bad(
      `cookies: false cannot be combined with ${login === undefined ? "sessions" : "login"}; remove one of them`,
    );
  }
  if (cookies !== true && sessions === undefined && login === undefined && !needsCookies) return {};
  const { count = 1, per = "job", rotateAfter } = sessions ?? {};
  return {
    sessions: { count, per, rotateAfter, ...(blocks === undefined ? {} : { isKept: true }) } satisfies SessionSpec,
    ...(login === undefined ? {} : { login: loginFrom(login) }),
  };
}

function loginFrom({ url, action, fields = {}, form, json, check = {}, expired = {} }: z.output<typeof loginSchema>) {
  if (form !== undefined && json !== undefined) throw bad("login.json: cannot be combined with form");
  if (form === undefined && json === undefined) {
    throw bad(
      "login: has neither form nor json; add the fields that the site expects, such as form: { user, password }",
    );
  }
  const spec: LoginSpec = {
    ...{ url, action, fields, form, json },
    check: withoutUndefined(check),
    expired: { ...withoutUndefined(expired), status: expired.status ?? EXPIRED_STATUS },
  };
  return spec;
}

function withoutUndefined<T extends object>(part: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(part).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}

function bad(message: string): TrawlError {
  return new TrawlError("BAD_JOB", { op: "submit.resolveJob", message });
}
