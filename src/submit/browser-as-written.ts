/** Converts resolved browser settings back to the form that users write. Text typed into pages is left out. */
import type { z } from "zod";
import { type BrowserAction, type BrowserSpec, PLAIN_BROWSER } from "../domain/browser.ts";
import { browserFrom, type browserSchema } from "./browser-schema.ts";

export type BrowserInput = z.output<typeof browserSchema>;

/** `hidden`: the actions that are left out, and that the user has to add again. */
export function browserAsWritten(spec: BrowserSpec): { browser: BrowserInput; hidden: string[] } {
  const { waitFor, settleMs, actions, screenshot, pdf, requests, bytes } = spec;
  const pictures = {
    ...(screenshot === "none" ? {} : { screenshot: screenshot === "view" ? ("view" as const) : true }),
    ...(pdf ? { pdf } : {}),
  };
  const usual = browserFrom(pictures);
  const shown = actions.filter(({ kind }) => kind !== "fill");
  const browser: BrowserInput = {
    ...(waitFor.kind === PLAIN_BROWSER.waitFor.kind ? {} : { waitFor: waitForAsWritten(waitFor) }),
    ...(settleMs === usual.settleMs ? {} : { settle: `${settleMs}ms` }),
    ...(JSON.stringify(spec.block) === JSON.stringify(usual.block) ? {} : { block: [...spec.block] }),
    ...(shown.length === 0 ? {} : { actions: shown.map(actionAsWritten) }),
    ...pictures,
    ...(requests === usual.requests ? {} : { requests }),
    ...(bytes === usual.bytes ? {} : { bytes }),
  };
  const hidden = actions.flatMap(({ kind }, nth) => (kind === "fill" ? [`browser.actions.${nth}`] : []));
  return { browser, hidden };
}

function waitForAsWritten(waitFor: BrowserSpec["waitFor"]): NonNullable<BrowserInput["waitFor"]> {
  if (waitFor.kind === "selector") return { selector: waitFor.selector };
  return waitFor.kind === "function" ? { function: waitFor.source } : waitFor.kind;
}

function actionAsWritten(action: BrowserAction): NonNullable<BrowserInput["actions"]>[number] {
  switch (action.kind) {
    case "click":
      return {
        click: action.selector,
        ...(action.times === 1 ? {} : { times: action.times }),
        ...(action.isOptional ? { optional: true } : {}),
      };
    case "fill":
      return { fill: action.selector, with: action.text };
    case "press":
      return { press: action.key };
    case "scroll":
      return { scroll: "bottom", ...(action.times === 1 ? {} : { times: action.times }) };
    case "pause":
      return { wait: `${action.ms}ms` };
    case "await":
      return { wait: { selector: action.selector } };
  }
}
