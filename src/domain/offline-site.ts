/**
 * The site name of tasks that process pages of a site but send no requests to it, such as parse tasks. No host has
 * such a name, so no rate limit and no robots.txt apply. Each site has its own offline site, so that a large site does
 * not delay a small one.
 */
export function offlineSite(site: string): string {
  return `#${site}`;
}

export function isOffline(site: string): boolean {
  return site.startsWith("#");
}

/** The real site of an offline site. */
export function onlineSite(site: string): string {
  return isOffline(site) ? site.slice(1) : site;
}
