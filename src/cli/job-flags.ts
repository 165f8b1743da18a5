/** The flags that define a job, shared by `crawl`, `submit` and `schedule`. */
import { type Command, Option } from "commander";
import { collect, requestIdFlag, wholeNumber } from "./flags.ts";

export const RENDER = ["never", "auto", "always"] as const;

/** `recrawlDefault`: describes the recrawl set that is used if --recrawl names none. */
type JobFlagTexts = { recrawlDefault?: string; name?: string };

/** Adds the flags of `CrawlFlags`, except --request-id. */
export function withJobFlags(
  command: Command,
  {
    recrawlDefault = "; the name of the set is required, unless the job or spider sets it",
    name = "name of the job",
  }: JobFlagTexts = {},
): Command {
  return withRequestFlags(command)
    .option(
      "-e, --extract <name=rule>",
      "add a field to the record: title=h1, 'price=.p|number', 'tags[]=.tag', 'img=img@src', 'sku=.id|match=/(\\d+)/|default=none'; not for a spider, whose handlers emit the records (repeatable)",
      collect,
      [],
    )
    .option(
      "--follow <selector>",
      "selector of the links to follow (default, if the targets are URLs: a[href]); with the value none, only the given URLs are fetched; not for a spider, whose handlers select the links",
    )
    .addOption(
      new Option("--scope <where>", "follow links to the same site, the same registrable domain, or any host")
        .choices(["site", "domain", "any"])
        .default(undefined, "site"),
    )
    .option(
      "--sitemap [urls...]",
      "also fetch the pages that these sitemaps list; without a URL: the sitemaps listed in robots.txt of each given URL, or /sitemap.xml; write the targets before this flag",
    )
    .option(
      "--since <when>",
      "with --sitemap: only pages whose lastmod is not older than this date (2026-01-31) or duration (7d); pages without lastmod are kept",
    )
    .option(
      "--include <glob>",
      "follow only URLs that match this pattern, for example **/catalogue/** (repeatable)",
      collect,
      [],
    )
    .option(
      "--exclude <glob>",
      "do not follow URLs that match this pattern, for example **/tag/** (repeatable)",
      collect,
      [],
    )
    .option(
      "--max-pages <n>",
      "fetch at most this many URLs (redirect targets do not count)",
      wholeNumber("--max-pages", 1),
    )
    .option("--max-depth <n>", "follow links at most this many levels deep", wholeNumber("--max-depth", 0))
    .option("--max-seconds <n>", "end the job this many seconds after its submission", wholeNumber("--max-seconds", 1))
    .option("--rate <rate>", "rate of requests to one site: 4/s, 10/m, unlimited (default 4/s)")
    .option(
      "--burst <n>",
      "requests that may be sent to a site at once after a pause (default 1)",
      wholeNumber("--burst", 1),
    )
    .option("--per-site <n>", "maximum concurrent requests to one site (default 4)", wholeNumber("--per-site", 1))
    .option("--retries <n>", "maximum number of retries of a URL (default 4)", wholeNumber("--retries", 0))
    .option("--ignore-robots", "ignore robots.txt; only for your own sites")
    .option("--no-adaptive", "do not lower the rate of a site that responds slowly or with errors")
    .option(
      "--recrawl [set]",
      `download only pages that have changed since the last crawl of this recrawl set${recrawlDefault}`,
    )
    .option("--changed-only", "with --recrawl: store only the records of new and changed pages")
    .option("--keep-bodies", "store page bodies, compressed and deduplicated")
    .addOption(
      new Option("--render <when>", "render pages in a browser; auto: only pages that need it")
        .choices(RENDER)
        .default(undefined, "never"),
    )
    .option(
      "--wait-for <what>",
      "when a rendered page is ready: load (the default), idle (no network requests), or a selector that must match",
    )
    .addOption(
      new Option(
        "--parse <where>",
        "where pages are parsed; inline: in the worker that fetches them; queue: in parse workers",
      )
        .choices(["inline", "queue"])
        .default(undefined, "inline"),
    )
    .option("--name <text>", name);
}

/** Adds the flags of the request, which are those of curl. */
export function withRequestFlags(command: Command): Command {
  return command
    .option(
      "-H, --header <name: value>",
      "send this header with every request; most headers may contain secrets and are sent only to the origins of the given URLs; env:NAME and file:PATH are replaced by their values (repeatable)",
      collect,
      [],
    )
    .option(
      "-u, --user <user:password>",
      "send this user name and password (HTTP basic authentication) to the origins of the given URLs; write the password as env:NAME or file:PATH, because other users can read the arguments of a process",
    )
    .option("--cookies", "keep the cookies of sites, and send them back")
    .option(
      "-X, --method <method>",
      "method of the requests to the given URLs: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS",
    )
    .option(
      "-d, --data <text>",
      "body of the requests to the given URLs: sent as JSON if it is JSON, otherwise as a form; @FILE: the content of a file; with -d, the default method is POST",
    );
}

/** Adds --request-id. The jobs of a schedule have generated request ids. */
export function withRequestIdFlag(command: Command): Command {
  return command.option(
    "--request-id <id>",
    "request id of the job, for trawl trace <id> (default: generated)",
    requestIdFlag("--request-id"),
  );
}
