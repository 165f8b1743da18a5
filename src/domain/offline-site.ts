/**
 * Where work on the pages of a site is queued that asks nothing of the site itself. No host has such a name: nothing is
 * limited there, and no robots.txt asked for. Each site has one, so that a large one does not hold up a small one.
 */
export function offlineSite(site: string): string {
  return `#${site}`;
}

export function isOffline(site: string): boolean {
  return site.startsWith("#");
}

/** The site whose pages are worked on. */
export function onlineSite(site: string): string {
  return isOffline(site) ? site.slice(1) : site;
}
