import { createLinkResolver } from "../domain/canonical-url.ts";

/** Where hrefs lead to, in canonical form: each once, in order, http(s) only. Links inside the page itself are left out. */
export function resolveLinks(hrefs: readonly string[], baseUrl: string): string[] {
  const resolve = createLinkResolver(baseUrl);
  const links = new Set<string>();
  for (const href of hrefs) {
    const link = href.startsWith("#") ? undefined : resolve(href);
    if (link !== undefined) links.add(link);
  }
  return [...links];
}
