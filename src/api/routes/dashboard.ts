/**
 * Serves the files of the dashboard. They contain no data, so these routes need no key. The dashboard reads its data
 * from the API with the key of the user.
 */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import { type DashboardFile, type DashboardFiles, PAGE, packedFor, readDashboard } from "../dashboard-files.ts";
import { once } from "../response-stream.ts";
import { type ApiRequest, type ApiResponse, type ApiRoute, defineRoute } from "../route.ts";

/**
 * Allows only the dashboard's own files: no inline code, no framing by other sites. Screenshots are blobs, because they
 * are fetched with the key. Trusted types prevent scraped text from becoming markup or script.
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

export function dashboardRoutes(folder: string): ApiRoute[] {
  let known: DashboardFiles | undefined;
  const files = (): DashboardFiles => {
    known ??= readDashboard(folder);
    if (known !== undefined) return known;
    throw new TrawlError("DASHBOARD_MISSING", {
      op: "api.dashboard",
      message: `there is no dashboard in ${folder}; build it with npm run build; the API works without the dashboard, see /docs`,
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
      responses: { 200: { description: "The page.", types: ["text/html"] } },
      async handle({ headers }) {
        const page = files().get(PAGE) as DashboardFile;
        // The browser revalidates the page with its ETag on every load.
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
      responses: {
        200: { description: "A script, a stylesheet or an image.", types: ["text/javascript", "text/css"] },
      },
      async handle({ params, headers }) {
        const file = files().get(`assets/${params.file}`);
        if (file !== undefined) return respond(file, headers, { "cache-control": FOREVER });
        throw new TrawlError("NOT_FOUND", {
          op: "api.dashboard",
          message: `the dashboard has no file ${JSON.stringify(params.file)}; the page in the browser may be from another version: reload it`,
        });
      },
    }),
  ];
}

function respond(
  file: DashboardFile,
  request: ApiRequest["headers"],
  own: Readonly<Record<string, string>>,
): ApiResponse {
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
