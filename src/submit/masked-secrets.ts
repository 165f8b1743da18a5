/**
 * Masks the secrets of a job: values of headers, credentials, the fields of its login, and the text that its browser
 * types into pages. They may be session ids and passwords. References to secrets are not masked. Works for jobs as
 * written and for resolved jobs.
 */
import { parseSecretReference } from "../domain/secret-reference.ts";

export const MASK = "***";

type Values = Readonly<Record<string, unknown>>;

/** The job as users see it, and as the archive stores it. */
export function withMaskedSecrets<Job extends object>(job: Job): Job {
  const { urls, headers, auth, login, browser } = job as {
    auth?: Readonly<Record<string, MaskableCredentials>>;
    login?: { form?: Values; json?: Values };
    urls?: readonly string[];
    headers?: Values;
    browser?: { actions?: readonly Values[] };
  };
  return {
    ...job,
    ...(urls === undefined ? {} : { urls: urls.map(maskedEntry) }),
    ...(headers === undefined ? {} : { headers: maskedValues(headers) }),
    ...(auth === undefined ? {} : { auth: mapped(auth, maskedCredentials) }),
    ...(login === undefined ? {} : { login: maskedLogin(login) }),
    ...(browser?.actions === undefined ? {} : { browser: { ...browser, actions: browser.actions.map(masked) } }),
  };
}

/** An entry of a list of URLs (url-entry.ts) with masked headers. */
export function maskedEntry(entry: string): string {
  if (!entry.startsWith("{")) return entry;
  const request = JSON.parse(entry) as { headers?: Values };
  const { headers } = request;
  return headers === undefined ? entry : JSON.stringify({ ...request, headers: maskedValues(headers) });
}

type MaskableCredentials = { basic?: Values | undefined; bearer?: unknown };

export function maskedCredentials({ basic, bearer }: MaskableCredentials): MaskableCredentials {
  return basic === undefined ? maskedValues({ bearer }) : { basic: maskedValues(basic) };
}

function mapped<Value>(values: Readonly<Record<string, Value>>, change: (value: Value) => Value) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function maskedLogin<Login extends { form?: Values; json?: Values }>(login: Login): Login {
  const { form, json } = login;
  return {
    ...login,
    ...(form === undefined ? {} : { form: maskedValues(form) }),
    ...(json === undefined ? {} : { json: maskedValues(json) }),
  };
}

function maskedValues(values: Values): Values {
  const isOpen = (value: unknown) => parseSecretReference(String(value)) !== undefined;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isOpen(value) ? value : MASK]));
}

/** As written: `{ fill, with }`. Resolved: `{ kind: "fill", selector, text }`. */
function masked(action: Values): Values {
  if ("fill" in action) return { ...action, with: MASK };
  return action.kind === "fill" ? { ...action, text: MASK } : action;
}
