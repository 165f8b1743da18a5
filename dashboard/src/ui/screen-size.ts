/** The size class of the window. On small windows, tables hide columns. */
import { signal } from "@preact/signals";

export type ScreenSize = "phone" | "tablet" | "laptop" | "desktop" | "wide";

const MIN_WIDTHS: readonly [ScreenSize, string][] = [
  ["tablet", "(min-width: 640px)"],
  ["laptop", "(min-width: 1000px)"],
  ["desktop", "(min-width: 1100px)"],
  ["wide", "(min-width: 1380px)"],
];
const SCREEN_SIZES: readonly ScreenSize[] = ["phone", "tablet", "laptop", "desktop", "wide"];

export const screenSize = signal<ScreenSize>("desktop");

export function startScreenSize(): void {
  const queries = MIN_WIDTHS.map(([name, width]) => ({ name, query: matchMedia(width) }));
  const update = () => {
    screenSize.value = queries.findLast(({ query }) => query.matches)?.name ?? "phone";
  };
  for (const { query } of queries) query.addEventListener("change", update);
  update();
}

export function fitsScreen(needed: ScreenSize, actual: ScreenSize): boolean {
  return SCREEN_SIZES.indexOf(actual) >= SCREEN_SIZES.indexOf(needed);
}
