import { EACH, type Rules } from "../domain/extraction-rules.ts";
import type { Fields } from "../domain/page.ts";
import { compileCss } from "./css-selector.ts";
import type { Extraction, Extractor } from "./extractor.ts";
import { compileFields, type FieldsReader } from "./field-reader.ts";
import { compileLinkSelector, type LinkFinder, PLAIN_LINKS } from "./link-selector.ts";
import { applyDirectives, mayHaveDirectives } from "./page-directives.ts";
import { isMarkup, pageKind } from "./page-kind.ts";
import { type PageView, viewScan, viewTree } from "./page-view.ts";
import { resolveLinks } from "./resolve-links.ts";
import type { Scope } from "./source.ts";

type CompileOptions = {
  /** CSS selector of the links to follow. If undefined, no links are followed. */
  links: string | undefined;
  /**
   * `fast`: htmlparser2, which tolerates errors but does not correct markup as browsers do, e.g. by inserting
   * `<tbody>`.
   */
  parser: "fast";
  /** Set if robots directives in pages are obeyed, see `applyDirectives`. */
  metaRobots?: boolean | undefined;
};

/**
 * Compiles rules to an extractor. Selectors are compiled once, and a page is parsed once. If the rules use only
 * metadata and the default link selector, no tree is built. Pages that are neither HTML nor XML yield nothing. The
 * extractor never throws.
 *
 * @throws TrawlError BAD_SELECTOR with the field, the selector and the problem.
 */
export function compileRules(rules: Rules, { links, metaRobots = false }: CompileOptions): Extractor {
  const { [EACH]: each, ...fields } = rules;
  const record = compileFields(fields, "");
  const scopesOf = typeof each === "string" ? scopesByCss(each) : wholePage;
  const findLinks = links === undefined ? undefined : compileLinkSelector(links, { obeysNofollow: metaRobots });
  const directives = { metaRobots, followsNext: links?.trim() === PLAIN_LINKS };
  const usesTree = record.usesTree || each !== undefined || (links !== undefined && links.trim() !== PLAIN_LINKS);

  return (input) => {
    const kind = pageKind(input.page.contentType, input.html);
    if (!isMarkup(kind)) return applyDirectives(NOTHING, { page: input.page, metadata: undefined, ...directives });
    const isTree = usesTree || kind === "xml";
    const seen = isTree ? viewTree(input, kind) : viewScan(input, { kind, obeysNofollow: metaRobots });
    const extraction = { ...readRecords(scopesOf(seen), record), links: linksIn(seen, findLinks) };
    // Reading the metadata of a tree takes time, and most pages have no directives.
    const metadata = isTree && !mayHaveDirectives(input.html, directives) ? undefined : seen.metadata();
    return applyDirectives(extraction, { page: input.page, metadata, ...directives });
  };
}

const NOTHING: Extraction = { records: [], invalid: [], links: [] };

function wholePage(view: PageView): Scope[] {
  return [{ view, within: undefined }];
}

function scopesByCss(selector: string): (view: PageView) => Scope[] {
  const css = compileCss(selector, `"${EACH}"`);
  return (view) => css.all(view.dom, undefined).map((within) => ({ view, within }));
}

function readRecords(scopes: readonly Scope[], record: FieldsReader): Pick<Extraction, "records" | "invalid"> {
  const records: Fields[] = [];
  const invalid: { fields: Fields; reason: string }[] = [];
  for (const scope of scopes) {
    const problems: string[] = [];
    const fields = record.read(scope, problems, "");
    if (problems.length === 0) records.push(fields);
    else invalid.push({ fields, reason: problems.join("; ") });
  }
  return { records, invalid };
}

function linksIn(view: PageView, find: LinkFinder | undefined): readonly string[] {
  return find === undefined ? [] : resolveLinks(view.hrefs(find), view.baseUrl());
}
