/** How the browser renders a job's pages, as users write it. Unknown keys are errors. */
import { z } from "zod";
import {
  type BrowserAction,
  type BrowserSpec,
  PLAIN_BROWSER,
  RESOURCE_TYPES,
  type WaitFor,
} from "../domain/browser.ts";
import { parseDurationMs } from "../domain/duration.ts";
import { expressionProblem, keyProblem, selectorProblem } from "./browser-syntax.ts";

const MAX_SETTLE_MS = 10 * 60_000;
const selector = z
  .string()
  .min(1)
  .max(1000)
  .superRefine(refuse(selectorProblem))
  .meta({ examples: ["button.more", "#list li"] });
const key = z
  .string()
  .min(1)
  .max(50)
  .superRefine(refuse(keyProblem))
  .meta({ examples: ["Enter", "Control+A"] });
const expression = z
  .string()
  .min(1)
  .max(10_000)
  .superRefine(refuse(expressionProblem))
  .meta({ examples: ["document.images.length > 3"] });
const times = z.int().min(1).max(1000).optional();
const settle = z
  .union([z.string(), z.number()])
  .refine((text) => isWithin(parseDurationMs(text)), {
    error: (issue) => `takes a duration from 0s to 10m, such as 5s, not ${JSON.stringify(issue.input)}`,
  })
  .meta({ examples: ["5s", "500ms"] });

const waitFor = z.union(
  [z.enum(["load", "idle"]), z.strictObject({ selector }), z.strictObject({ function: expression })],
  { error: 'takes "load", "idle", { selector: "…" } or { function: "…" }' },
);

const action = z.union(
  [
    z.strictObject({ click: selector, times, optional: z.boolean().optional() }),
    z.strictObject({ fill: selector, with: z.string().max(10_000) }),
    z.strictObject({ press: key }),
    z.strictObject({ scroll: z.literal("bottom"), times }),
    z.strictObject({ wait: z.union([settle, z.strictObject({ selector })]) }),
  ],
  {
    error:
      'takes { click: "…", times?, optional? }, { fill: "…", with: "…" }, { press: "Enter" }, { scroll: "bottom", times? } or { wait: "1s" | { selector: "…" } }',
  },
);

export const browserSchema = z.strictObject({
  /** When a page is ready. Default: `load`. */
  waitFor: waitFor.optional(),
  /** The maximum time to wait until a page is ready, and for each action. Default: 5s. */
  settle: settle.optional(),
  /** Resources that are not loaded. Default: images, fonts and media; with screenshot or pdf only media. */
  block: z.array(z.enum(RESOURCE_TYPES)).optional(),
  /** Actions that run on the page before it is read. */
  actions: z.array(action).max(100).optional(),
  /** Store a screenshot of the whole page (`true`), or of the visible part (`view`). */
  screenshot: z.union([z.boolean(), z.literal("view")]).optional(),
  /** Store the page as PDF. */
  pdf: z.boolean().optional(),
  /** The maximum number of requests of a page besides its document. Default: 300. */
  requests: z.int().min(0).max(100_000).optional(),
  /** The maximum number of bytes that a page receives besides its document. Default: 50 MB. */
  bytes: z.int().min(0).max(10_000_000_000).optional(),
});

type BrowserInput = z.output<typeof browserSchema>;

/** Resolves the settings: fills in the defaults. */
export function browserFrom(input: BrowserInput): BrowserSpec {
  const screenshot = input.screenshot === true ? "page" : input.screenshot === "view" ? "view" : "none";
  const pdf = input.pdf ?? PLAIN_BROWSER.pdf;
  // A screenshot without images would be useless.
  const block = screenshot !== "none" || pdf ? (["media"] as const) : PLAIN_BROWSER.block;
  return {
    waitFor: input.waitFor === undefined ? PLAIN_BROWSER.waitFor : waitForFrom(input.waitFor),
    settleMs: input.settle === undefined ? PLAIN_BROWSER.settleMs : msOf(input.settle),
    block: input.block ?? block,
    actions: (input.actions ?? []).map(actionFrom),
    screenshot,
    pdf,
    requests: input.requests ?? PLAIN_BROWSER.requests,
    bytes: input.bytes ?? PLAIN_BROWSER.bytes,
  };
}

function waitForFrom(written: NonNullable<BrowserInput["waitFor"]>): WaitFor {
  if (typeof written === "string") return { kind: written };
  return "selector" in written
    ? { kind: "selector", selector: written.selector }
    : { kind: "function", source: written.function };
}

function actionFrom(written: NonNullable<BrowserInput["actions"]>[number]): BrowserAction {
  if ("click" in written) {
    const { click, times = 1, optional = false } = written;
    return { kind: "click", selector: click, times, isOptional: optional };
  }
  if ("fill" in written) return { kind: "fill", selector: written.fill, text: written.with };
  if ("press" in written) return { kind: "press", key: written.press };
  if ("scroll" in written) return { kind: "scroll", times: written.times ?? 1 };
  const { wait } = written;
  return typeof wait === "object" ? { kind: "await", selector: wait.selector } : { kind: "pause", ms: msOf(wait) };
}

function msOf(text: string | number): number {
  return parseDurationMs(text) ?? PLAIN_BROWSER.settleMs;
}

function isWithin(ms: number | undefined): boolean {
  return ms !== undefined && ms >= 0 && ms <= MAX_SETTLE_MS;
}

function refuse(problemOf: (text: string) => string | undefined) {
  return (text: string, context: z.RefinementCtx<string>): void => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  };
}
