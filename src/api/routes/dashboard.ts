/**
 * Serves the files of the dashboard. They contain no data, so these routes need no key. The dashboard reads its data from the
 * API with the key of the user.
 */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import { type DashboardFile, type DashboardFiles, PAGE, packedFor, readDashboard } from "../dashboard-files.ts";
import { once } from "../response-stream.ts";
import { type Answer, type Asked, defineRoute, type Route } from "../route.ts";

/**
 * Allows the dashboard's own files only: no inline code, no framing by other sites. Screenshots are blobs, because they are
 * fetched with the key. Trusted types keep scraped text from becoming markup or script.
 */
const PAGE_POLICY = [
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
/** File names contain a hash of the content. */
const FOREVER = "public, max-age=31536000, immutable";
const named = z.strictObject({ file: z.string().max(200) });

export function dashboardRoutes(folder: string): Route[] {
  let known: DashboardFiles | undefined;
  const files = (): DashboardFiles => {
    known ??= readDashboard(folder);
    if (known !== undefined) return known;
    throw new TrawlError("DASHBOARD_MISSING", {
      op: "api.dashboard",
      message: `there is no dashboard in ${folder}: it was not built; the API works, see /docs`,
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
      answers: { 200: { says: "The page.", types: ["text/html"] } },
      async handle({ headers }) {
        const page = files().get(PAGE) as DashboardFile;
        // Validated with the ETag on every load.
        return respond(page, headers, { "cache-control": "no-cache", "content-security-policy": PAGE_POLICY });
      },
    }),
    defineRoute({
      method: "GET",
      path: "/assets/:file",
      scope: "open",
      tag: TAG,
      summary: "A file of the dashboard",
      isHidden: true,
      params: named,
      answers: { 200: { says: "A script, a stylesheet or an image.", types: ["text/javascript", "text/css"] } },
      async handle({ params, headers }) {
        const file = files().get(`assets/${params.file}`);
        if (file !== undefined) return respond(file, headers, { "cache-control": FOREVER });
        throw new TrawlError("NOT_FOUND", {
          op: "api.dashboard",
          message: `the dashboard has no file ${JSON.stringify(params.file)}; it may be from another version: reload the page`,
        });
      },
    }),
  ];
}

function respond(file: DashboardFile, request: Asked["headers"], own: Readonly<Record<string, string>>): Answer {
  const headers = { ...own, etag: file.etag, vary: "accept-encoding" };
  if (request["if-none-match"]?.includes(file.etag) === true) return { status: 304, body: undefined, headers };
  const { coding, bytes } = packedFor(file, String(request["accept-encoding"] ?? ""));
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
