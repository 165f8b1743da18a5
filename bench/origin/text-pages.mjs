/** Generates pages of long text: about 16 KB of text in few tags, with the same 40 links as the other pages. */
import { WORDS } from "./page-parts.mjs";
import { chooseLinks, createRandom, pathOf } from "./pages.mjs";

const TEXT_CHARS = 16_000;
const PARAGRAPHS = 4;

/** The same `seed` and `pages` yield the same site, byte for byte. */
export function createTextPages({ pages, seed }) {
  return {
    pathOf,
    /** The HTML of one page. */
    render(index) {
      const random = createRandom(seed ^ Math.imul(index + 1, 0x9e3779b1));
      const targets = Object.values(chooseLinks(index, pages, random)).flat();
      const links = targets.map((target) => `<a href="${pathOf(target)}">Page ${target}</a>`);
      const paragraphs = Array.from(
        { length: PARAGRAPHS },
        () => `<p>${makeText(TEXT_CHARS / PARAGRAPHS, random)}</p>`,
      );
      return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page ${index}</title>
<meta name="description" content="Text ${index}"></head><body><h1>Page ${index}</h1>
${paragraphs.join("\n")}
<p>${links.join(" ")}</p></body></html>
`;
    },
  };
}

function makeText(chars, random) {
  let text = "";
  while (text.length < chars) text += `${WORDS[random(WORDS.length)]} `;
  return text.trimEnd();
}
