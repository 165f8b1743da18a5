/** The URLs under which the broker may know a page and its steps, by what the store has of its tasks. */
import { STEPS, stepUrl } from "../../domain/step-url.ts";

/** `told`: tasks of the page, of one job or several. The page's own URL comes first. */
export function urlsOfPage(url: string, told: readonly { taskId: string; url: string }[]): string[] {
  const marks = [undefined, ...told.map(({ taskId }) => taskId)]; // a mark: where seen URLs lapse
  const steps = marks.flatMap((mark) => STEPS.map((step) => stepUrl(url, step, mark)));
  return [...new Set([url, ...steps, ...told.map((one) => one.url)])];
}
