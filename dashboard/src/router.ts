/**
 * The current route, stored in the part of the address after `#`. The server never sees that part, so the dashboard
 * works behind any path prefix without a setting, and every view has a link that can be shared.
 */
import { signal } from "@preact/signals";

type Route = {
  /** `#/jobs/abc?tab=records` is `["jobs", "abc"]`. */
  path: readonly string[];
  query: Readonly<Record<string, string>>;
};

type Query = Readonly<Record<string, string | number | undefined>>;

export const route = signal<Route>({ path: [], query: {} });

export function startRouter(): void {
  const update = () => {
    route.value = routeOf(location.hash);
  };
  window.addEventListener("hashchange", update);
  update();
}

/** Never throws: users type addresses, so a part that cannot be decoded is used as it is. */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** `hrefOf(["jobs", id], { tab })`. Undefined and empty query values are left out. */
export function hrefOf(path: readonly string[], query: Query = {}): string {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(present.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

export function go(href: string): void {
  location.hash = href;
}

/** Changes the query without a history entry, so that the Back button skips changes of filters. */
export function setQuery(changes: Query): void {
  const { path, query } = route.peek();
  const href = hrefOf(path, { ...query, ...changes });
  history.replaceState(null, "", href);
  route.value = routeOf(href);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
