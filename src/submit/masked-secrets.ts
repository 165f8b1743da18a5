/**
 * Masks the secrets of a job: header values, and the text that its browser types into pages. They may be session ids
 * and passwords. Works for jobs as written and for resolved jobs.
 */
export const MASK = "***";

type Values = Readonly<Record<string, unknown>>;

/** The job as users see it, and as the archive stores it. */
export function withMaskedSecrets<Job extends object>(job: Job): Job {
  const { headers, browser } = job as { headers?: Values; browser?: { actions?: readonly Values[] } };
  return {
    ...job,
    ...(headers === undefined ? {} : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])) }),
    ...(browser?.actions === undefined ? {} : { browser: { ...browser, actions: browser.actions.map(masked) } }),
  };
}

/** As written: `{ fill, with }`. Resolved: `{ kind: "fill", selector, text }`. */
function masked(action: Values): Values {
  if ("fill" in action) return { ...action, with: MASK };
  return action.kind === "fill" ? { ...action, text: MASK } : action;
}
