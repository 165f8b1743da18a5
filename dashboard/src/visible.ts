/** Whether somebody can see this tab, and the time, for those who can. */
import { signal } from "@preact/signals";

export const isVisible = signal(true);
/** Epoch ms, anew every second while the tab is visible. */
export const now = signal(Date.now());

export function startVisible(): void {
  const look = () => {
    isVisible.value = !document.hidden;
    if (isVisible.value) now.value = Date.now();
  };
  document.addEventListener("visibilitychange", look);
  setInterval(() => {
    if (isVisible.peek()) now.value = Date.now();
  }, 1_000);
  look();
}
