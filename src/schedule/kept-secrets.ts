/**
 * Users see a schedule with masked secrets (masked-secrets.ts), and send it back to change it. A mask that they send
 * back is replaced by the stored value. The mask itself is never stored.
 */
import { TrawlError } from "../errors.ts";
import type { JobInput } from "../submit/job-schema.ts";
import { MASK, maskedEntry } from "../submit/masked-secrets.ts";
import { urlOfEntry } from "../submit/url-entry.ts";

type Action = NonNullable<NonNullable<JobInput["browser"]>["actions"]>[number];

/**
 * Replaces masks by the values in `kept`, the stored job. The job must still fetch from the same hosts: otherwise a
 * user could send a secret that they cannot see to a host of their choice. Throws BAD_SCHEDULE.
 */
export function withKeptSecrets(job: JobInput, kept: JobInput | undefined): JobInput {
  return withKeptFills(
    withKeptLogin(withKeptAuth(withKeptHeaders(withKeptEntries(job, kept), kept), kept), kept),
    kept,
  );
}

/** Restores the credentials of an origin. */
function withKeptAuth(job: JobInput, kept: JobInput | undefined): JobInput {
  const { auth } = job;
  if (auth === undefined) return job;
  const whole = Object.entries(auth).map(([origin, { basic, bearer }]) => {
    const before = kept?.auth?.[origin];
    const restore = (part: string, value: string, stored: string | undefined) =>
      value === MASK ? keptValue(`auth.${origin}.${part}`, stored, job, kept) : value;
    if (basic === undefined) return [origin, { bearer: restore("bearer", bearer ?? "", before?.bearer) }];
    const user = restore("basic.user", basic.user, before?.basic?.user);
    return [origin, { basic: { user, password: restore("basic.password", basic.password, before?.basic?.password) } }];
  });
  return { ...job, auth: Object.fromEntries(whole) as NonNullable<JobInput["auth"]> };
}

/** Restores the fields of the login, if the login is sent to the same URL. */
function withKeptLogin(job: JobInput, kept: JobInput | undefined): JobInput {
  const { login } = job;
  if (login === undefined) return job;
  const before = kept?.login?.url === login.url && kept.login.action === login.action ? kept.login : undefined;
  const restore = (part: "form" | "json") =>
    Object.entries(login[part] ?? {}).map(([name, value]) => {
      if (value !== MASK) return [name, value];
      return [name, keptValue(`login.${part}.${name}`, before?.[part]?.[name], job, kept)];
    });
  return {
    ...job,
    login: {
      ...login,
      ...(login.form === undefined ? {} : { form: Object.fromEntries(restore("form")) as Record<string, string> }),
      ...(login.json === undefined ? {} : { json: Object.fromEntries(restore("json")) }),
    },
  };
}

/** Restores the headers of requests in `urls`. A request is the stored one if it differs only in its masks. */
function withKeptEntries(job: JobInput, kept: JobInput | undefined): JobInput {
  if (job.urls === undefined) return job;
  const known = new Map((kept?.urls ?? []).map((entry) => [maskedEntry(entry), entry]));
  const urls = job.urls.map((entry, nth) => {
    const isMasked = entry.startsWith("{") && Object.values(headersIn(entry)).includes(MASK);
    return isMasked ? keptValue(`urls.${nth}.headers`, known.get(entry), job, kept) : entry;
  });
  return { ...job, urls };
}

function headersIn(entry: string): Record<string, string> {
  return (JSON.parse(entry) as { headers?: Record<string, string> }).headers ?? {};
}

function withKeptHeaders(job: JobInput, kept: JobInput | undefined): JobInput {
  const { headers } = job;
  if (headers === undefined || !Object.values(headers).includes(MASK)) return job;
  const known = new Map(Object.entries(kept?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const whole = Object.entries(headers).map(([name, value]) => {
    if (value !== MASK) return [name, value];
    return [name, keptValue(`headers.${name}`, known.get(name.toLowerCase()), job, kept)];
  });
  return { ...job, headers: Object.fromEntries(whole) };
}

/** Restores the text of `fill` actions. Matches them by the field, and by order if a field is filled more than once. */
function withKeptFills(job: JobInput, kept: JobInput | undefined): JobInput {
  const { browser } = job;
  if (browser?.actions === undefined) return job;
  const known = new Map<string, string[]>();
  for (const action of kept?.browser?.actions ?? []) {
    if ("fill" in action) known.set(action.fill, [...(known.get(action.fill) ?? []), action.with]);
  }
  const actions = browser.actions.map((action: Action, nth): Action => {
    if (!("fill" in action)) return action;
    const before = known.get(action.fill)?.shift();
    if (action.with !== MASK) return action;
    return { ...action, with: keptValue(`browser.actions.${nth}.with`, before, job, kept) };
  });
  return { ...job, browser: { ...browser, actions } };
}

function keptValue<Value>(path: string, before: Value | undefined, job: JobInput, kept: JobInput | undefined): Value {
  if (before === undefined) throw bad(path, "and no value is stored for it");
  if (kept !== undefined && hasSameReach(job, kept)) return before;
  throw bad(
    path,
    "and the stored value is used only if the hosts of the URLs, the spider and the link scope stay the same",
  );
}

function hasSameReach(job: JobInput, kept: JobInput): boolean {
  const hosts = new Set(hostsOf(kept));
  const isSameCode = job.spider === kept.spider && job.follow?.scope === kept.follow?.scope;
  return isSameCode && hostsOf(job).every((host) => hosts.has(host));
}

function hostsOf({ urls = [] }: JobInput): string[] {
  return urls.map(urlOfEntry).map((url) => (URL.canParse(url) ? new URL(url).host : url));
}

function bad(path: string, why: string): TrawlError {
  return new TrawlError("BAD_SCHEDULE", {
    op: "schedule.change",
    message: `job.${path}: ${MASK} is the mask of a value that is not shown, ${why}; send the value itself`,
    detail: { place: path },
  });
}
