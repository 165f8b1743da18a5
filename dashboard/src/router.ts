/**
 * Where one is, as the part of the address after `#`: it never reaches the server, so the page works behind any path
 * prefix without being told of it, and a link to a place can be sent to somebody else.
 */
import { signal } from "@preact/signals";

export type Place = {
  /** `#/jobs/abc?tab=records` is `["jobs", "abc"]`. */
  path: readonly string[];
  query: Readonly<Record<string, string>>;
};

type Query = Readonly<Record<string, string | number | undefined>>;

const HOME: Place = { path: [], query: {} };

export const place = signal<Place>(HOME);

export function startRouter(): void {
  const look = () => {
    place.value = placeOf(location.hash);
  };
  window.addEventListener("hashchange", look);
  look();
}

/** What cannot be read is taken as it stands: an address may be typed by anybody. */
export function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  return {
    path: path.split("/").filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** `hrefOf("jobs", id)`; what is undefined in the query is left out. */
export function hrefOf(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${words === "" ? "" : `?${words}`}`;
}

export function go(href: string): void {
  location.hash = href;
}

/** Changes the query in place, as filters do: going back leads past it. */
export function setQuery(changes: Query): void {
  const { path, query } = place.peek();
  const href = hrefOf(path, { ...query, ...changes });
  history.replaceState(null, "", href);
  place.value = placeOf(href);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
