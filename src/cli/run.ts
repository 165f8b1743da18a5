/** The command line: registers every command and prints errors. */
import { Console } from "node:console";
import { Command, CommanderError } from "commander";
import { ERRORS, isTrawlError } from "../errors.ts";
import { showableLines } from "../runtime/showable.ts";
import { VERSION } from "../version.ts";
import { addChange } from "./commands/change.ts";
import { addControl } from "./commands/control.ts";
import { addCrawl } from "./commands/crawl.ts";
import { addDead } from "./commands/dead.ts";
import { addDelete } from "./commands/delete.ts";
import { addDemo } from "./commands/demo.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExplain } from "./commands/explain.ts";
import { addJobs } from "./commands/jobs.ts";
import { addKeys } from "./commands/keys.ts";
import { addProxies } from "./commands/proxies.ts";
import { addRecords } from "./commands/records.ts";
import { addSchedule } from "./commands/schedule.ts";
import { addServe } from "./commands/serve.ts";
import { addSitemap } from "./commands/sitemap.ts";
import { addSubmit } from "./commands/submit.ts";
import { addTop } from "./commands/top.ts";
import { addTrace } from "./commands/trace.ts";
import { addTry } from "./commands/try.ts";
import { addUp } from "./commands/up.ts";
import { addWorker } from "./commands/worker.ts";
import { addWorkers } from "./commands/workers.ts";
import { HELP_STYLE } from "./help.ts";
import { listenForShutdown, type Shutdown } from "./shutdown.ts";
import { ownCommand, withCommand } from "./terminal.ts";

const HELP = `
Start here:
  trawl demo                            crawl a small demo shop on this machine
  trawl try <url> -e title=h1           test a selector on one page
  trawl crawl <url> --out pages.jsonl   crawl a site
  trawl submit <url>; trawl worker      queue a job; run queued jobs
  trawl up                              run the dashboard and workers
  trawl top                             watch jobs, sites and workers

Settings come from flags, then TRAWL_* environment variables, then
trawl.config.ts; docs/config.md lists them.`;

/** Runs one command and resolves with the exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  // Only results are written to stdout. Output of `console.log` in a spider is written to stderr.
  globalThis.console = new Console(process.stderr);
  const program = createProgram(listenForShutdown());
  try {
    await program.parseAsync([...args], { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return failed(error);
  }
}

/** The parser with every command; docs/cli.md is generated from it. */
export function createProgram(shutdown: Shutdown): Command {
  const program = new Command("trawl")
    .description("Distributed web scraper: limits the requests to each site, loses no URL, and stores no record twice.")
    .version(VERSION)
    .showHelpAfterError("(use --help to see the options of this command)")
    .configureHelp(HELP_STYLE)
    .configureOutput({
      outputError: (text, write) => write(errorText(text.trimEnd().replace(/^error: /, "BAD_USAGE: "))),
    })
    .exitOverride()
    .addHelpText("after", HELP);
  addCrawl(program, shutdown);
  addTry(program);
  addSitemap(program, shutdown);
  addSubmit(program, shutdown);
  addWorker(program, shutdown);
  addServe(program, shutdown);
  addUp(program, shutdown);
  addKeys(program);
  addSchedule(program);
  addWorkers(program);
  addProxies(program);
  addTop(program, shutdown);
  addJobs(program);
  addRecords(program);
  addDead(program);
  addExplain(program);
  addTrace(program);
  addControl(program);
  addDelete(program, shutdown);
  addChange(program);
  addDoctor(program);
  addDemo(program, shutdown);
  for (const command of program.commands) command.exitOverride();
  return program;
}

function failed(error: unknown): number {
  // Commander has already printed its message. Help and version exit with 0; everything else is a usage error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ERRORS.BAD_USAGE.exit;
  if (isTrawlError(error)) {
    process.stderr.write(errorText(`${error.code}: ${withCommand(error.message, { command: ownCommand() })}`));
    return error.exitCode;
  }
  const { stack, message } = error as Error;
  const report = `INTERNAL: ${message}; this is a bug in Trawl: report it with this stack trace:\n${stack}`;
  process.stderr.write(errorText(report));
  return ERRORS.INTERNAL.exit;
}

/**
 * The text of an error. Lines after the first are indented, so that quoted text cannot look like another message of
 * Trawl.
 */
function errorText(text: string): string {
  return `trawl: ${showableLines(text).replaceAll("\n", "\n  ")}\n`;
}
