/**
 * The dashboard: one page and what it loads. It has nothing to hide, so it is open; all that it shows it asks the API for,
 * with the key of whoever looks at it.
 */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import { type DashboardFile, type DashboardFiles, PAGE, packedFor, readDashboard } from "../dashboard-files.ts";
import { type Answer, type Asked, defineRoute, type Route } from "../route.ts";
import { once } from "../stream-of.ts";

/**
 * Nothing but its own files, nothing inline, nobody else's frame. Pictures of pages come as blobs, after the key was
 * shown. No text can become markup or script, whatever was scraped.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const TAG = "Dashboard";
/** Their names say what is in them: what was fetched once is good for ever. */
const FOR_EVER = "public, max-age=31536000, immutable";
const named = z.strictObject({ file: z.string().max(200) });

export function dashboardRoutes(folder: string): Route[] {
  let known: DashboardFiles | undefined;
  const files = (): DashboardFiles => {
    known ??= readDashboard(folder);
    if (known !== undefined) return known;
    throw new TrawlError("DASHBOARD_MISSING", {
      op: "api.dashboard",
      message: `there is no dashboard in ${folder}: this Trawl runs without one that was built; the API works, see /docs`,
    });
  };
  return [
    defineRoute({
      method: "GET",
      path: "/",
      scope: "open",
      tag: TAG,
      summary: "The dashboard",
      isHidden: true,
      answers: { 200: { says: "A page.", types: ["text/html"] } },
      async handle({ headers }) {
        const page = files().get(PAGE) as DashboardFile;
        // Asked for every time, and sent only where it is another.
        return sent(page, headers, { "cache-control": "no-cache", "content-security-policy": PAGE_POLICY });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/assets/:file",
      scope: "open",
      tag: TAG,
      summary: "What the dashboard loads",
      isHidden: true,
      params: named,
      answers: { 200: { says: "A script, a style or a picture.", types: ["text/javascript", "text/css"] } },
      async handle({ params, headers }) {
        const file = files().get(`assets/${params.file}`);
        if (file !== undefined) return sent(file, headers, { "cache-control": FOR_EVER });
        throw new TrawlError("NOT_FOUND", {
          op: "api.dashboard",
          message: `the dashboard has no file ${JSON.stringify(params.file)}; it may be of another version: load the page again`,
        });
      },
    }),
  ];
}

function sent(file: DashboardFile, asked: Asked["headers"], own: Readonly<Record<string, string>>): Answer {
  const headers = { ...own, etag: file.etag, vary: "accept-encoding" };
  if (asked["if-none-match"]?.includes(file.etag) === true) return { status: 304, body: undefined, headers };
  const { coding, bytes } = packedFor(file, String(asked["accept-encoding"] ?? ""));
  return {
    status: 200,
    type: file.type,
    stream: once(bytes),
    headers: {
      ...headers,
      "content-length": String(bytes.length),
      ...(coding === undefined ? {} : { "content-encoding": coding }),
    },
  };
}
