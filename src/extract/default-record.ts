import type { Fields } from "../domain/page.ts";
import type { Extraction, Extractor } from "./extractor.ts";
import { baseUrlOf, firstMeta } from "./metadata.ts";
import { applyDirectives } from "./page-directives.ts";
import { isMarkup, type PageKind, pageKind } from "./page-kind.ts";
import { resolveLinks } from "./resolve-links.ts";
import { scanPage } from "./scan-page.ts";
import { cutText } from "./visible-text.ts";

/** Maximum length of `text` in the default record. */
export const TEXT_CHARS = 5_000;

type DefaultExtractorOptions = {
  /** Whether the crawl follows links. If false, the record still lists the page's links. */
  followLinks: boolean;
  /** Set if robots directives in pages are obeyed, see `applyDirectives`. */
  metaRobots?: boolean | undefined;
};

/**
 * The extractor of a crawl without rules: one record per page with `title`, `description`, `text` and `links`. Links
 * are canonical, unique and in order. A page that is text but not HTML yields its text. Never throws.
 */
export function createDefaultExtractor({ followLinks, metaRobots = false }: DefaultExtractorOptions): Extractor {
  const directives = { metaRobots, followsNext: followLinks };
  return ({ page, html }) => {
    const kind = pageKind(page.contentType, html);
    if (!isMarkup(kind) || kind === "xml") {
      return applyDirectives(recordOf(plainFields(kind, html), []), { page, metadata: undefined, ...directives });
    }
    const { metadata, hrefs, followed, text } = scanPage(html, {
      ...{ kind, textChars: TEXT_CHARS },
      obeysNofollow: metaRobots,
    });
    const baseUrl = baseUrlOf(metadata, page.url);
    const links = resolveLinks(hrefs, baseUrl);
    const description = firstMeta(metadata, "description", "og:description");
    const targets = followed === hrefs ? links : resolveLinks(followed, baseUrl);
    const extraction = recordOf({ title: metadata.title, description, text, links }, followLinks ? targets : []);
    return applyDirectives(extraction, { page, metadata, ...directives });
  };
}

function plainFields(kind: Exclude<PageKind, "html" | "xhtml">, body: string): Fields {
  const text = kind === "binary" ? "" : cutText(body, TEXT_CHARS);
  return { title: null, description: null, text, links: [] };
}

function recordOf(fields: Fields, links: readonly string[]): Extraction {
  return { records: [fields], invalid: [], links };
}
