/** The pages of a site of the origin: `{ path, html }` each. */
import { createPages } from "./pages.mjs";
import { createTextPages } from "./text-pages.mjs";

/** The same in every run and on every machine. */
const SEED = 20_251;
const KINDS = { mixed: createPages, text: createTextPages };

/** `kind` is mixed (17 KB of ordinary HTML) or text (16 KB of text in few tags). Both have 40 links. */
export function makePages({ kind, pages }) {
  const site = KINDS[kind]({ pages, seed: SEED });
  return Array.from({ length: pages }, (_, index) => ({ path: site.pathOf(index), html: site.render(index) }));
}
