/** The flags that define a job, shared by `crawl`, `submit` and `schedule`. */
import { type Command, Option } from "commander";
import { collect, requestIdFlag, wholeNumber } from "./flags.ts";

export const RENDER = ["never", "auto", "always"] as const;

/** Adds the flags of `CrawlFlags`. */
export function withJobFlags(command: Command): Command {
  return command
    .option(
      "-e, --extract <name=rule>",
      "add a field to the record: title=h1, 'price=.p|number', 'tags[]=.tag', 'img=img@src', 'sku=.id|match=/(\\d+)/|default=none' (repeatable)",
      collect,
      [],
    )
    .option("--follow <selector>", "which links to follow (default a[href]); none: only the given URLs")
    .addOption(
      new Option(
        "--scope <where>",
        "follow links to the same site, the same registrable domain, or any host (default site)",
      ).choices(["site", "domain", "any"]),
    )
    .option("--include <glob>", "only follow URLs that match: **/catalogue/** (repeatable)", collect, [])
    .option("--exclude <glob>", "do not follow URLs that match (repeatable)", collect, [])
    .option(
      "--max-pages <n>",
      "fetch at most this many URLs (targets of redirects are extra)",
      wholeNumber("--max-pages", 1),
    )
    .option("--max-depth <n>", "follow links at most this many levels deep", wholeNumber("--max-depth", 0))
    .option("--max-seconds <n>", "stop after this many seconds", wholeNumber("--max-seconds", 1))
    .option("--rate <rate>", "requests per site: 4/s, 10/m, unlimited (default 4/s)")
    .option(
      "--burst <n>",
      "requests that may be sent to a site at once after a pause (default 1)",
      wholeNumber("--burst", 1),
    )
    .option("--per-site <n>", "parallel requests per site (default 4)", wholeNumber("--per-site", 1))
    .option("--retries <n>", "retries after the first attempt (default 4)", wholeNumber("--retries", 0))
    .option("--ignore-robots", "ignore robots.txt; only for your own sites")
    .option("--header <name: value>", "send this header as well (repeatable)", collect, [])
    .option(
      "--recrawl [set]",
      "only download pages that changed since the last crawl of this set; a schedule has its own set",
    )
    .option("--changed-only", "with --recrawl: only emit records of new and changed pages")
    .option("--keep-bodies", "store page bodies, compressed and deduplicated")
    .addOption(
      new Option("--render <when>", "render pages in a browser; auto: only pages that need it (default never)").choices(
        RENDER,
      ),
    )
    .option("--wait-for <what>", "wait until load, idle, or until this selector matches (rendered pages)")
    .addOption(
      new Option("--parse <where>", "queue: parse pages in workers of the queue parse (default inline)").choices([
        "inline",
        "queue",
      ]),
    )
    .option("--name <text>", "name of the job")
    .option(
      "--request-id <id>",
      "id to trace the job by: trawl trace <id> (default: generated)",
      requestIdFlag("--request-id"),
    );
}
