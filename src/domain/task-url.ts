/**
 * URLs of tasks. The frontier identifies the tasks of a job by their URLs. Canonical URLs have no fragment, so a
 * fragment distinguishes the tasks of one page, and the URL is still readable:
 *
 * - `https://a.example/` is a GET of the page.
 * - `https://a.example/#post-0f3a…` is another request: its method and a hash of its body (request.ts).
 * - `https://a.example/#render` and `#parse` are follow-up tasks of the page: rendering it, or parsing it on another
 *   queue. `#post-0f3a…/render` is the same for another request.
 * - `https://a.example/#again-2` is a page that is fetched again in a session, because a page that sets cookies has
 *   redirected back to it.
 * - `https://a.example/sitemap.xml#sitemap` reads the file as a sitemap. A link to the same URL is another task.
 */
import { requestMark, type TaskRequest } from "./request.ts";

export const STEPS = ["render", "parse", "sitemap"] as const;

export type Step = (typeof STEPS)[number];

/** The URL of a task with this request. `url` is canonical. */
export function requestUrl(url: string, request: TaskRequest | undefined): string {
  const mark = request === undefined ? undefined : requestMark(request);
  return mark === undefined ? url : `${url}#${mark}`;
}

/** The URL of a page that a redirect leads back to. `redirects` makes each repetition distinct. */
export function againUrl(url: string, redirects: number): string {
  return `${url}${url.includes("#") ? "~" : "#"}again-${redirects}`;
}

/**
 * The URL of a step of a page. `url` may be the URL of the page or of another of its steps. With a dedup scope whose
 * entries expire, a page may be fetched again while its earlier step still counts as seen. A `mark`, such as the id of
 * the task that fetched the page, makes the steps distinct.
 */
export function stepUrl(url: string, step: Step, mark?: string): string {
  const { page, request } = partsOf(url);
  const prefix = request === "" ? "" : `${request}/`;
  return `${page}#${prefix}${step}${mark === undefined ? "" : `-${mark}`}`;
}

/** The URL of the page of a task, whatever its request and step. This URL is fetched, passed to handlers and stored. */
export function pageUrlOf(url: string): string {
  const hash = url.indexOf("#");
  return hash < 0 ? url : url.slice(0, hash);
}

/** The step in the URL of a task; undefined for the page itself. */
export function stepOf(url: string): Step | undefined {
  const [name] = partsOf(url).step.split("-");
  return STEPS.find((step) => step === name);
}

/**
 * The URLs that a page and its steps may have in the broker, given the tasks of the page in the store. The URL of the
 * page comes first.
 */
export function urlsOfPage(url: string, tasks: readonly { taskId: string; url: string }[]): string[] {
  const requests = [url, ...tasks.map((task) => withoutStep(task.url))];
  const marks = [undefined, ...tasks.map(({ taskId }) => taskId)]; // marks are used if dedup entries expire
  const steps = requests.flatMap((one) => marks.flatMap((mark) => STEPS.map((step) => stepUrl(one, step, mark))));
  return [...new Set([...requests, ...steps, ...tasks.map((one) => one.url)])];
}

/** The URL of the task that fetched the page: without its step, with its request. */
export function withoutStep(url: string): string {
  const { page, request } = partsOf(url);
  return request === "" ? page : `${page}#${request}`;
}

/** The parts of the URL of a task. `request` and `step` are empty for a GET of the page itself. */
function partsOf(url: string): { page: string; request: string; step: string } {
  const hash = url.indexOf("#");
  if (hash < 0) return { page: url, request: "", step: "" };
  const [page, fragment] = [url.slice(0, hash), url.slice(hash + 1)];
  const slash = fragment.indexOf("/");
  if (slash >= 0) return { page, request: fragment.slice(0, slash), step: fragment.slice(slash + 1) };
  const isStep = STEPS.some((step) => fragment === step || fragment.startsWith(`${step}-`));
  return isStep ? { page, request: "", step: fragment } : { page, request: fragment, step: "" };
}
