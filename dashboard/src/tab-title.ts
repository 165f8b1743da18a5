/** What stands on the browser's tab, in its history and its bookmarks. */
import { cut } from "./ui/format.ts";

const WORDS_MOST = 80;

/** Names come from anybody: what is not seen, or turns text around, would reach into the browser's own words. */
export function tabTitle(words: string): string {
  const plain = words.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return plain === "" ? "Trawl" : `${cut(plain, WORDS_MOST)} · Trawl`;
}

export function titleTab(words: string): void {
  document.title = tabTitle(words);
}
