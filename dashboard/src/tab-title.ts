import { cut } from "./ui/format.ts";

const TITLE_MAX = 80;

/**
 * The title of the browser tab. Job names are untrusted: control and bidi characters could alter the browser's own UI
 * text.
 */
export function tabTitle(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return plain === "" ? "Trawl" : `${cut(plain, TITLE_MAX)} · Trawl`;
}

export function setTabTitle(text: string): void {
  document.title = tabTitle(text);
}
