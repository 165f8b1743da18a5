/** Light or dark: as the system has it, unless somebody chose. */
import { signal } from "@preact/signals";

export type Theme = "light" | "dark";

const KEPT_AS = "trawl-theme";
const DARK = "(prefers-color-scheme: dark)";

/** What is shown now. */
export const theme = signal<Theme>("light");

export function startTheme(): void {
  const system = matchMedia(DARK);
  const look = () => {
    const chosen = localStorage.getItem(KEPT_AS);
    const wanted = chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light";
    document.documentElement.dataset.theme = wanted;
    theme.value = wanted;
  };
  system.addEventListener("change", look);
  addEventListener("storage", look); // another tab chose
  look();
}

export function switchTheme(): void {
  const next: Theme = theme.peek() === "dark" ? "light" : "dark";
  const isAsSystem = matchMedia(DARK).matches === (next === "dark");
  if (isAsSystem) localStorage.removeItem(KEPT_AS);
  else localStorage.setItem(KEPT_AS, next);
  document.documentElement.dataset.theme = next;
  theme.value = next;
}
