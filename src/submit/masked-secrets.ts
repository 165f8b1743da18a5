/**
 * What a job's headers hold, and what its browser types into pages, are sessions and passwords: who gave them knows them,
 * and whoever looks at a job later sees a mask. One home for what is masked, for jobs as written and as resolved.
 */
export const MASK = "***";

type Words = Readonly<Record<string, unknown>>;

/** The job as it may be shown, or kept when nobody fetches in its name again. */
export function withMaskedSecrets<Job extends object>(job: Job): Job {
  const { headers, browser } = job as { headers?: Words; browser?: { actions?: readonly Words[] } };
  return {
    ...job,
    ...(headers === undefined ? {} : { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])) }),
    ...(browser?.actions === undefined ? {} : { browser: { ...browser, actions: browser.actions.map(masked) } }),
  };
}

/** As written, `{ fill, with }`; resolved, `{ kind: "fill", selector, text }`. */
function masked(action: Words): Words {
  if ("fill" in action) return { ...action, with: MASK };
  return action.kind === "fill" ? { ...action, text: MASK } : action;
}
