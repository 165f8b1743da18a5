/** How a page is shown in a browser before it is read. */

/** When a page is worth reading. */
export type WaitFor =
  /** Everything the document names has come. */
  | { kind: "load" }
  /** Nothing has been asked for during half a second. */
  | { kind: "idle" }
  /** An element is there. A page that never has it is not complete, and is tried again. */
  | { kind: "selector"; selector: string }
  /** An expression, evaluated in the page, is true. The same holds. */
  | { kind: "function"; source: string };

/** What is done to the page once it is there, in order. Each waits for what it names. */
export type BrowserAction =
  /** As often as asked, or until there is nothing more to click on. */
  | { kind: "click"; selector: string; times: number; isOptional: boolean }
  | { kind: "fill"; selector: string; text: string }
  | { kind: "press"; key: string }
  /** To the end of the page, and again if that made it longer. */
  | { kind: "scroll"; times: number }
  | { kind: "pause"; ms: number }
  | { kind: "await"; selector: string };

export type BrowserSpec = {
  waitFor: WaitFor;
  /** A page that loads or chatters on is read after so long all the same. */
  settleMs: number;
  /** What is not fetched. */
  block: readonly ResourceType[];
  actions: readonly BrowserAction[];
  screenshot: "none" | "page" | "view";
  pdf: boolean;
  /** What a page may ask for besides its document; more is refused. */
  requests: number;
  /** What it may be sent besides its document, as it comes over the network. */
  bytes: number;
};

/** Whatever a page asks for is one of these. */
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

/** A page as a browser shows it, without any wish. */
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
