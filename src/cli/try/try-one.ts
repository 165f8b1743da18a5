/** Fetches what `trawl try` was given, and shows what comes out of it. */
import { extractorOf } from "../../compose-extractor.ts";
import { loadConfig } from "../../config/load.ts";
import { TrawlError } from "../../errors.ts";
import { showable } from "../../runtime/showable.ts";
import { newJobId, newRequestId, resolveJob } from "../../submit/resolve-job.ts";
import { readTarget } from "../crawl/targets.ts";
import type { Screen } from "../terminal.ts";
import { type PictureFlags, withPictures, writePicture } from "./pictures.ts";
import { showPage } from "./show-page.ts";
import { type TriedPage, tryPage } from "./try-page.ts";

export type TryFlags = {
  extract: string[];
  follow?: string;
  header: string[];
  ignoreRobots?: boolean;
  userAgent?: string;
  waitFor?: string;
  json?: boolean;
} & PictureFlags;

/** The answer is the exit code. */
export async function tryOne(target: string, flags: TryFlags, screen: Screen): Promise<number> {
  const { job: written, urls } = await readTarget([target], { ...flags, include: [], exclude: [] });
  const job = withPictures(written, flags);
  const [url] = urls;
  if (url === undefined || urls.length > 1) {
    throw new TrawlError("BAD_USAGE", { op: "cli.try", message: "give one URL to try" });
  }
  const config = await loadConfig({ userAgent: flags.userAgent }, process.cwd());
  const spec = resolveJob(job, config, {
    id: newJobId(0),
    requestId: newRequestId(0),
    queue: undefined,
    typedHosts: [new URL(url).hostname],
    out: undefined,
    recrawlSet: "-", // of a schedule's job; nothing is compared here
  });
  const extract = extractorOf(spec);
  const tried: TriedPage = await tryPage(config, spec, url);
  if (tried.outcome.kind !== "page") {
    const { kind: _, ...why } = tried.outcome;
    if (flags.json === true) await screen.out(`${JSON.stringify({ url, hops: tried.hops, ...why })}\n`);
    else screen.err(`${showable(`${url} gave no page: ${why.detail}`)}\n`);
    return 1;
  }
  const { page, pictures = {} } = tried.outcome;
  await writePicture(flags.screenshot, pictures.screenshot, screen);
  await writePicture(flags.pdf, pictures.pdf, screen);
  const extraction = extract({ page, html: tried.text });
  const times = { fetchedAt: Math.round(page.fetchedAt), tookMs: Math.round(page.tookMs) };
  if (flags.json === true)
    await screen.out(`${JSON.stringify({ page: { ...page, ...times }, charset: tried.charset, ...extraction })}\n`);
  else await screen.out(showPage({ tried, page, extraction }, screen.outColumns()));
  return 0;
}
