/**
 * Adds a job's headers to requests of a page to its own site. Playwright's `route` is not used: it keeps added headers
 * across redirects, so they would be sent to other sites. Here every hop is checked separately.
 */
import type { Page as Tab } from "playwright-core";

/** Headers that Chromium sets from the context or the document. */
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

/** Ignores the error: the request or the page no longer exists. */
function ignoreGone(): void {}
