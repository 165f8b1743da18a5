/**
 * Follow-up steps of one page as tasks of their own: rendered after it was fetched, parsed after it was fetched. Such a
 * task has the page's URL with the step as its fragment. Canonical URLs have no fragment, so exact dedup lets each step
 * of a page in, once, and people can read what it is.
 */
export const STEPS = ["render", "parse"] as const;

export type Step = (typeof STEPS)[number];

/**
 * The URL of a step of a page. Of a URL that is a step already, it is the page's own other step. Where seen URLs lapse, a
 * page may be fetched again while its earlier step still counts as seen: a `mark`, such as the id of the task that
 * fetched it, tells them apart.
 */
export function stepUrl(url: string, step: Step, mark?: string): string {
  return `${pageUrlOf(url)}#${step}${mark === undefined ? "" : `-${mark}`}`;
}

/** The page that a task's URL stands for, whatever its step: what is fetched, shown to handlers and kept. */
export function pageUrlOf(url: string): string {
  const hash = url.indexOf("#");
  return hash < 0 ? url : url.slice(0, hash);
}

/** Which step of its page a task's URL stands for; undefined for the page itself. */
export function stepOf(url: string): Step | undefined {
  const hash = url.indexOf("#");
  if (hash < 0) return undefined;
  const [name] = url.slice(hash + 1).split("-");
  return STEPS.find((step) => step === name);
}

/**
 * The URLs under which the broker may know a page and its steps, by what the store has of its tasks. `told`: tasks of the
 * page, of one job or several. The page's own URL comes first.
 */
export function urlsOfPage(url: string, told: readonly { taskId: string; url: string }[]): string[] {
  const marks = [undefined, ...told.map(({ taskId }) => taskId)]; // a mark: where seen URLs lapse
  const steps = marks.flatMap((mark) => STEPS.map((step) => stepUrl(url, step, mark)));
  return [...new Set([url, ...steps, ...told.map((one) => one.url)])];
}
