/**
 * Shows untrusted text: scraped content and names that other users typed. It is rendered as text only, shortened, and
 * isolated so that it cannot change the direction of the text around it.
 */
import { cut, escapeBidi } from "./format.ts";

/** Shows the text on one line. The tooltip has the same shortened text. */
export function Scraped({ text, max = 500 }: { text: string; max?: number }) {
  const shown = escapeBidi(cut(text, max));
  return (
    <bdi class="scraped" dir="auto" title={shown}>
      {shown}
    </bdi>
  );
}

/** A link if the URL is http or https; otherwise text, such as for `javascript:` and `data:`. */
export function ScrapedLink({ url, max = 500 }: { url: string; max?: number }) {
  const href = webUrl(url);
  if (href === undefined) return <Scraped text={url} max={max} />;
  const shown = escapeBidi(cut(url, max));
  return (
    <a class="scraped" href={href} rel="noopener noreferrer" target="_blank" dir="ltr" title={shown}>
      <bdi>{shown}</bdi>
    </a>
  );
}

/** The URL as the browser resolves it; undefined if it is not http or https. */
export function webUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === "http:" || protocol === "https:" ? href : undefined;
}

/** Shows the text within other text, on as many lines as needed. */
export function ScrapedText({ text, max = 500 }: { text: string; max?: number }) {
  return (
    <bdi class="scraped-text" dir="auto">
      {escapeBidi(cut(text, max))}
    </bdi>
  );
}
