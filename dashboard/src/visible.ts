/** Whether the tab is visible, and a clock that runs only while it is. */
import { signal } from "@preact/signals";

export const isVisible = signal(true);
/** Epoch ms, updated every second while the tab is visible. */
export const now = signal(Date.now());

export function startVisible(): void {
  const update = () => {
    isVisible.value = !document.hidden;
    if (isVisible.value) now.value = Date.now();
  };
  document.addEventListener("visibilitychange", update);
  setInterval(() => {
    if (isVisible.peek()) now.value = Date.now();
  }, 1_000);
  update();
}
