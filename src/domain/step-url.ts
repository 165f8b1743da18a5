/**
 * URLs of follow-up tasks of a page: rendering it, or parsing it on another queue. Such a task has the URL of the page
 * with the step as fragment. Canonical URLs have no fragment, so dedup accepts each step of a page once, and the URL is
 * readable.
 */
export const STEPS = ["render", "parse"] as const;

export type Step = (typeof STEPS)[number];

/**
 * The URL of a step of a page. `url` may be the URL of the page or of another of its steps. With a dedup scope whose
 * entries expire, a page may be fetched again while its earlier step still counts as seen. A `mark`, such as the id of
 * the task that fetched the page, makes the steps distinct.
 */
export function stepUrl(url: string, step: Step, mark?: string): string {
  return `${pageUrlOf(url)}#${step}${mark === undefined ? "" : `-${mark}`}`;
}

/** The URL of the page of a task, whatever its step. This URL is fetched, passed to handlers and stored. */
export function pageUrlOf(url: string): string {
  const hash = url.indexOf("#");
  return hash < 0 ? url : url.slice(0, hash);
}

/** The step in the URL of a task; undefined for the page itself. */
export function stepOf(url: string): Step | undefined {
  const hash = url.indexOf("#");
  if (hash < 0) return undefined;
  const [name] = url.slice(hash + 1).split("-");
  return STEPS.find((step) => step === name);
}

/**
 * The URLs that a page and its steps may have in the broker, given the tasks of the page in the store. The URL of the
 * page comes first.
 */
export function urlsOfPage(url: string, tasks: readonly { taskId: string; url: string }[]): string[] {
  const marks = [undefined, ...tasks.map(({ taskId }) => taskId)]; // marks are used if dedup entries expire
  const steps = marks.flatMap((mark) => STEPS.map((step) => stepUrl(url, step, mark)));
  return [...new Set([url, ...steps, ...tasks.map((one) => one.url)])];
}
