/** Flags that shape a job, the same for every command that makes one. */
import { type Command, Option } from "commander";
import { collect, requestIdWord, wholeNumber } from "./flags.ts";

export const RENDER = ["never", "auto", "always"] as const;

/** As CrawlFlags has them. */
export function withJobFlags(command: Command): Command {
  return command
    .option(
      "-e, --extract <name=rule>",
      "a field of the record: title=h1, 'price=.p|number', 'tags[]=.tag', 'img=img@src' (repeatable)",
      collect,
      [],
    )
    .option("--follow <selector>", "whose links to follow (default a[href]); none: only the URLs given")
    .addOption(new Option("--scope <where>", "how far links may lead").choices(["site", "domain", "any"]))
    .option("--include <glob>", "follow only URLs like this: **/catalogue/** (repeatable)", collect, [])
    .option("--exclude <glob>", "do not follow URLs like this (repeatable)", collect, [])
    .option(
      "--max-pages <n>",
      "fetch at most this many URLs (where redirects lead comes on top)",
      wholeNumber("--max-pages", 1),
    )
    .option("--max-depth <n>", "follow links at most this deep", wholeNumber("--max-depth", 0))
    .option("--max-seconds <n>", "stop after this long", wholeNumber("--max-seconds", 1))
    .option("--rate <rate>", "requests to one site: 4/s, 10/m, unlimited (default 4/s)")
    .option("--burst <n>", "requests to a site at once after a quiet time (default 1)", wholeNumber("--burst", 1))
    .option("--per-site <n>", "requests to one site under way at once (default 4)", wholeNumber("--per-site", 1))
    .option("--retries <n>", "tries after the first (default 4)", wholeNumber("--retries", 0))
    .option("--ignore-robots", "do not ask for or obey robots.txt: only for sites that are yours")
    .option("--header <name: value>", "send this header too (repeatable)", collect, [])
    .option(
      "--recrawl [set]",
      "ask sites only whether pages have changed since the last crawl of the same set; a schedule has one of its own",
    )
    .option("--changed-only", "with --recrawl: records of new and changed pages only")
    .option("--keep-bodies", "keep every page's body, compressed, once per content")
    .addOption(
      new Option(
        "--render <when>",
        "show pages in a browser before reading them; auto: those that need it (default never)",
      ).choices(RENDER),
    )
    .option("--wait-for <what>", "when a rendered page is read: load, idle, or a selector that has to be there")
    .addOption(
      new Option("--parse <where>", "queue: pages are parsed by workers of the queue parse").choices([
        "inline",
        "queue",
      ]),
    )
    .option("--name <text>", "what to call the job")
    .option(
      "--request-id <id>",
      "follow it by this id: trawl trace <id> (default: one is made)",
      requestIdWord("--request-id"),
    );
}
