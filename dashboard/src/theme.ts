/** Light or dark theme: the system setting, unless the user chose one. */
import { signal } from "@preact/signals";

type Theme = "light" | "dark";

const STORAGE_KEY = "trawl-theme";
const DARK = "(prefers-color-scheme: dark)";

/** The theme in use. */
export const theme = signal<Theme>("light");

export function startTheme(): void {
  const system = matchMedia(DARK);
  const update = () => {
    const chosen = localStorage.getItem(STORAGE_KEY);
    const wanted = chosen === "light" || chosen === "dark" ? chosen : system.matches ? "dark" : "light";
    document.documentElement.dataset.theme = wanted;
    theme.value = wanted;
  };
  system.addEventListener("change", update);
  addEventListener("storage", update); // changed in another tab
  update();
}

export function switchTheme(): void {
  const next: Theme = theme.peek() === "dark" ? "light" : "dark";
  const isSystemTheme = matchMedia(DARK).matches === (next === "dark");
  if (isSystemTheme) localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, next);
  document.documentElement.dataset.theme = next;
  theme.value = next;
}
