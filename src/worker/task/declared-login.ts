/** Logs in as a job declares it: reads the login page, sends the form, and checks the result. */
import { compileGlobs } from "../../domain/glob.ts";
import type { TaskRequest } from "../../domain/request.ts";
import type { LoginSpec } from "../../domain/session-spec.ts";
import type { RequestAnswer, SendRequest } from "../../spider/page-reader.ts";

/** Extracts fields from a page: the value of each rule, or undefined. */
export type ReadFields = (
  rules: Readonly<Record<string, string>>,
  page: { url: string; html: string },
) => Readonly<Record<string, unknown>>;

type Deps = {
  send: SendRequest;
  readFields: ReadFields;
  resolveSecret(text: string): string;
  findCookie(url: string, name: string): string | undefined;
};

/** Rejects with the reason if the login fails. The reason contains no value of a field. */
export async function logInAsDeclared(login: LoginSpec, deps: Deps): Promise<void> {
  const page = await deps.send(login.url, undefined);
  const fields = readTokens(login, page, deps);
  const request = requestOf(login, fields, deps.resolveSecret);
  const answer = await deps.send(login.action ?? login.url, request).catch((cause: unknown) => {
    throw new Error(refusalText(login, cause), { cause });
  });
  const problem = findProblem(login, answer, deps);
  if (problem !== undefined) throw new Error(`login at ${login.url}: ${problem}`);
}

/** Many sites answer a wrong password with an error status. */
function refusalText({ url }: LoginSpec, cause: unknown): string {
  const reason = (cause instanceof Error ? cause.message : String(cause)).replace(/^request: /, "");
  return `login at ${url}: ${reason}${/answered 4\d\d$/.test(reason) ? "; check the user name and the password" : ""}`;
}

function readTokens(
  login: LoginSpec,
  { url, text: html }: RequestAnswer,
  { readFields }: Deps,
): Record<string, string> {
  const found = readFields(login.fields, { url, html });
  return Object.fromEntries(
    Object.entries(login.fields).map(([name, rule]) => {
      const value = found[name];
      if (typeof value === "string" || typeof value === "number") return [name, String(value)];
      throw new Error(`login at ${login.url}: login.fields.${name}: ${rule} matches nothing on the page`);
    }),
  );
}

function requestOf(
  { form, json }: LoginSpec,
  fields: Readonly<Record<string, string>>,
  resolveSecret: Deps["resolveSecret"],
): TaskRequest {
  if (json !== undefined) {
    const body = JSON.stringify({ ...fields, ...(resolved(json, resolveSecret) as object) });
    return { method: "POST", headers: { "content-type": "application/json" }, body };
  }
  const values = { ...fields, ...(resolved(form ?? {}, resolveSecret) as Record<string, string>) };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return { method: "POST", headers, body: new URLSearchParams(values).toString() };
}

/** The value with all references to secrets replaced. */
function resolved(value: unknown, resolveSecret: Deps["resolveSecret"]): unknown {
  if (typeof value === "string") return resolveSecret(value);
  if (Array.isArray(value)) return value.map((one) => resolved(one, resolveSecret));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, resolveSecret)]));
}

function findProblem({ url, check }: LoginSpec, answer: RequestAnswer, deps: Deps): string | undefined {
  const { cookie, selector, url: glob } = check;
  if (cookie !== undefined && deps.findCookie(url, cookie) === undefined) return `the site set no cookie ${cookie}`;
  if (glob !== undefined && !compileGlobs([glob])(answer.url))
    return `the login led to ${answer.url}, which does not match ${glob}`;
  if (selector === undefined) return undefined;
  const { found } = deps.readFields({ found: selector }, { url: answer.url, html: answer.text });
  return found === undefined || found === null
    ? `the page after the login has no element that matches ${selector}`
    : undefined;
}
