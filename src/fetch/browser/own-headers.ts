/**
 * Sends a job's headers with what a page asks its own site for. Not by Playwright's `route`: what that adds to a request
 * stays on it through redirects, and would reach whoever the site sends it to. Here every hop is looked at by itself.
 */
import type { Page as Tab } from "playwright-core";

/** Set by Chromium from the context, or by the document itself. */
const NOT_OURS: ReadonlySet<string> = new Set(["user-agent", "host", "content-length", "accept-encoding"]);

export async function sendOwnHeaders(
  tab: Tab,
  headers: Readonly<Record<string, string>>,
  isOwn: (url: string) => boolean,
): Promise<void> {
  const own = Object.entries(headers).filter(([name]) => !NOT_OURS.has(name));
  if (own.length === 0) return;
  const session = await tab.context().newCDPSession(tab);
  session.on("Fetch.requestPaused", ({ requestId, request }) => {
    const sent = Object.entries(request.headers).filter(([name]) => !own.some(([mine]) => mine === name.toLowerCase()));
    const all = [...sent, ...own].map(([name, value]) => ({ name, value }));
    const more = isOwn(request.url) ? { headers: all } : {};
    session.send("Fetch.continueRequest", { requestId, ...more }).catch(ignoreGone);
  });
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "http*", requestStage: "Request" }] });
}

/** The request, or the page, has gone meanwhile. */
function ignoreGone(): void {}
