/**
 * What came from somebody else's page. It is hostile until proven otherwise: shown as text and nothing else, cut to a
 * length, and kept from turning the text around it the other way.
 */
import { cut, unturned } from "./format.ts";

/** In one line; the whole of it stands in the title, cut too. */
export function Scraped({ text, most = 500 }: { text: string; most?: number }) {
  const shown = unturned(cut(text, most));
  return (
    <bdi class="scraped" dir="auto" title={shown}>
      {shown}
    </bdi>
  );
}

/** A link only where it leads to a page of the web: never `javascript:`, `data:` and their like. */
export function ScrapedLink({ url, most = 500 }: { url: string; most?: number }) {
  const href = webUrl(url);
  if (href === undefined) return <Scraped text={url} most={most} />;
  const shown = unturned(cut(url, most));
  return (
    <a class="scraped" href={href} rel="noopener noreferrer" target="_blank" dir="ltr" title={shown}>
      <bdi>{shown}</bdi>
    </a>
  );
}

/** The URL as the browser would follow it; undefined if it is not http or https. */
export function webUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}

/** In as many lines as it takes, in the midst of other text. */
export function ScrapedWords({ text, most = 500 }: { text: string; most?: number }) {
  return (
    <bdi class="scraped-words" dir="auto">
      {unturned(cut(text, most))}
    </bdi>
  );
}
