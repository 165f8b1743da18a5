/** How a browser renders a page before it is read. */

/** When a page is ready to be read. */
export type WaitFor =
  /** All resources of the document have loaded. */
  | { kind: "load" }
  /** The page has sent no request for half a second. */
  | { kind: "idle" }
  /** An element exists. If it never appears, the attempt fails and is retried. */
  | { kind: "selector"; selector: string }
  /** An expression, evaluated in the page, is true. If it never becomes true, the attempt fails and is retried. */
  | { kind: "function"; source: string };

/** An action on a ready page. An action with a selector waits for that element. */
export type BrowserAction =
  /** Clicks `times` times, or until the element no longer exists. */
  | { kind: "click"; selector: string; times: number; isOptional: boolean }
  | { kind: "fill"; selector: string; text: string }
  | { kind: "press"; key: string }
  /** Scrolls to the end of the page, and again if the page has grown. */
  | { kind: "scroll"; times: number }
  | { kind: "pause"; ms: number }
  | { kind: "await"; selector: string };

export type BrowserSpec = {
  waitFor: WaitFor;
  /** After this time, the page is read even if it is still loading or sending requests. */
  settleMs: number;
  /** The resource types that are not fetched. */
  block: readonly ResourceType[];
  actions: readonly BrowserAction[];
  screenshot: "none" | "page" | "view";
  pdf: boolean;
  /** The maximum number of requests besides the document. Further requests are refused. */
  requests: number;
  /** The maximum number of bytes besides the document, as received from the network. */
  bytes: number;
};

/** All types of resources that a page may request. */
export const RESOURCE_TYPES = [
  "stylesheet",
  "image",
  "media",
  "font",
  "script",
  "texttrack",
  "xhr",
  "fetch",
  "eventsource",
  "manifest",
  "other",
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** The default settings. */
export const PLAIN_BROWSER: BrowserSpec = {
  waitFor: { kind: "load" },
  settleMs: 5_000,
  block: ["image", "font", "media"],
  actions: [],
  screenshot: "none",
  pdf: false,
  requests: 300,
  bytes: 50_000_000,
};
