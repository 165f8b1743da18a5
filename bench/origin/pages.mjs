/**
 * Generates the pages of the benchmark's site from a seed: about 17 KB of ordinary HTML with 40 links to other pages.
 *
 * Page 0 is `/`. Page i links to pages 6i+1 … 6i+6, so every page is reachable from `/` in a few hops. The other links
 * point to random pages, as on a real site, and most of these pages have been seen before.
 */
import { HEAD_SCRIPT, HEAD_STYLE, WORDS } from "./page-parts.mjs";

export const LINKS_PER_PAGE = 40;

const CHILDREN = 6;
const CATEGORIES = 100;
const SENTENCES = 800;
const BODY_CHARS = { least: 16_200, spread: 1_400 };

/** The same `seed` and `pages` yield the same site, byte for byte. */
export function createPages({ pages, seed }) {
  const sentences = makeSentences(seed);

  return {
    pathOf,
    /** The HTML of one page. */
    render(index) {
      const random = createRandom(seed ^ Math.imul(index + 1, 0x9e3779b1));
      const links = chooseLinks(index, pages, random);
      return renderPage(index, links, sentences, random);
    },
  };
}

export function pathOf(index) {
  return index === 0 ? "/" : `/c/${index % CATEGORIES}/page-${index}.html`;
}

/**
 * Mulberry32, which is small, fast and the same on every machine. Returns a function that returns an integer below
 * `below`.
 */
export function createRandom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

function makeSentences(seed) {
  const random = createRandom(seed);
  return Array.from({ length: SENTENCES }, () => {
    const words = Array.from({ length: 7 + random(12) }, () => WORDS[random(WORDS.length)]);
    if (random(4) === 0) words[2] = `<em>${words[2]}</em>`;
    if (random(6) === 0) words[4] = `<code class="term">${words[4]}</code>`;
    if (random(8) === 0) words.splice(5, 0, "&amp;");
    const text = words.join(" ");
    return `${text[0] === "<" ? text : text[0].toUpperCase() + text.slice(1)}.`;
  });
}

/** The targets of the 40 links of a page, by the part of the page that contains them. */
export function chooseLinks(index, pages, random) {
  const firstChild = CHILDREN * index + 1;
  const children = range(firstChild, Math.min(firstChild + CHILDREN, pages));
  const nav = range(0, Math.min(6, pages));
  const crumbs = index === 0 ? [0] : [0, Math.floor((index - 1) / CHILDREN)];
  const pager = [(index + 1) % pages, (index + CATEGORIES) % pages, (index + pages - 1) % pages];
  const settled = children.length + nav.length + crumbs.length + pager.length;
  const related = Array.from({ length: LINKS_PER_PAGE - settled }, () => random(pages));
  return { nav, crumbs, pager, cards: [...children, ...related.slice(0, 8)], related: related.slice(8) };
}

function range(from, to) {
  return Array.from({ length: Math.max(0, to - from) }, (_, step) => from + step);
}

function renderPage(index, links, sentences, random) {
  const title = `Page ${index}: ${WORDS[random(WORDS.length)]} ${WORDS[random(WORDS.length)]}`;
  const sentence = () => sentences[random(SENTENCES)];
  const head = renderHead(index, title, plain(sentence()));
  const top = `<body class="page c-${index % CATEGORIES}" data-page="${index}">\n${renderNav(links.nav)}${renderCrumbs(links.crumbs)}`;
  const tail = renderTail(index, links, sentence, random);
  const wantedChars = BODY_CHARS.least + random(BODY_CHARS.spread) - head.length - top.length - tail.length;
  return `${head}${top}<main id="content">\n<h1>${title}</h1>\n${renderArticle(wantedChars, sentence, random)}${tail}`;
}

function plain(html) {
  return html.replace(/<[^>]+>/g, "");
}

function renderHead(index, title, description) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta property="og:title" content="${title}">
<meta property="og:type" content="article">
<link rel="canonical" href="${pathOf(index)}">
<link rel="stylesheet" href="/assets/site.css">
<style>${HEAD_STYLE}</style>
<script>${HEAD_SCRIPT}</script>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","headline":"${title}","position":${index}}</script>
</head>
`;
}

function renderNav(targets) {
  const entries = targets.map(
    (target) => `<li class="nav__entry"><a class="nav__link" href="${pathOf(target)}">Section ${target}</a></li>`,
  );
  return `<header class="top" role="banner"><nav aria-label="Main"><ul class="nav">${entries.join("")}</ul></nav></header>\n`;
}

function renderCrumbs(targets) {
  const crumbs = targets.map((target) => `<a href="${pathOf(target)}" itemprop="item"><span>Up ${target}</span></a>`);
  return `<div class="crumbs">${crumbs.join(" &rsaquo; ")}</div>\n`;
}

function renderArticle(wantedChars, sentence, random) {
  let html = "";
  for (let section = 1; html.length < wantedChars; section += 1) {
    if (section % 4 === 1) html += `<h2 id="s${section}">${plain(sentence())}</h2>\n`;
    const sentences = Array.from({ length: 3 + random(4) }, sentence);
    html += `<p class="body-text" data-n="${section}">${sentences.join(" ")}</p>\n`;
    if (section % 6 === 0) html += `<img src="/assets/${random(500)}.jpg" alt="A figure" width="640" height="360">\n`;
  }
  return html;
}

function renderTail(index, links, sentence, random) {
  const cards = links.cards.map(
    (
      target,
    ) => `<article class="card" data-id="${target}"><h3><a href="${pathOf(target)}" title="Page ${target}">Page ${target}</a></h3>
<p>${sentence()}</p></article>`,
  );
  const related = links.related.map((target, place) => {
    const fragment = place % 9 === 0 ? "#reviews" : "";
    return `<li><a href="${pathOf(target)}${fragment}" data-pos="${place}">${WORDS[random(WORDS.length)]} ${target}</a></li>`;
  });
  const pager = links.pager.map(
    (target) => `<a class="pager__link" href="${relativePath(index, target)}">Page ${target}</a>`,
  );
  return `<section class="cards">${cards.join("\n")}</section>
<!-- <a href="/retired/page.html">gone since the last redesign</a> -->
<aside><h2>Related</h2><ul class="related">${related.join("\n")}</ul></aside>
<div class="pager">${pager.join(" | ")}</div>
</main>
<footer><a href="#content">Back to top</a> <a href="mailto:desk@site.invalid">Write to us</a>
<a href="https://social.invalid/share?p=${index}" rel="nofollow noopener">Share</a><small>&copy; The site</small></footer>
</body>
</html>
`;
}

/** The same target as `pathOf`, as a relative path. */
function relativePath(from, to) {
  if (to === 0) return pathOf(0);
  if (from === 0) return pathOf(to).slice(1);
  if (from % CATEGORIES === to % CATEGORIES) return `page-${to}.html`;
  return `../${to % CATEGORIES}/page-${to}.html`;
}
