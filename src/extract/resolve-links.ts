import { createLinkResolver } from "../domain/canonical-url.ts";

/** The targets of hrefs: canonical, unique, in order, http(s) only. Hrefs that start with `#` are left out. */
export function resolveLinks(hrefs: readonly string[], baseUrl: string): string[] {
  const resolve = createLinkResolver(baseUrl);
  const links = new Set<string>();
  for (const href of hrefs) {
    const link = href.startsWith("#") ? undefined : resolve(href);
    if (link !== undefined) links.add(link);
  }
  return [...links];
}
