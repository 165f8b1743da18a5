/** The command line: every command, and what becomes of errors. */
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
import { addRecords } from "./commands/records.ts";
import { addSchedule } from "./commands/schedule.ts";
import { addServe } from "./commands/serve.ts";
import { addSubmit } from "./commands/submit.ts";
import { addTop } from "./commands/top.ts";
import { addTrace } from "./commands/trace.ts";
import { addTry } from "./commands/try.ts";
import { addUp } from "./commands/up.ts";
import { addWorker } from "./commands/worker.ts";
import { addWorkers } from "./commands/workers.ts";
import { HELP_STYLE } from "./help.ts";
import { listenForStops, type Stops } from "./stops.ts";

const HELP = `
Start here:
  trawl demo                            crawl a little shop on this machine
  trawl try <url> -e title=h1           see what a selector finds
  trawl crawl <url> --out pages.jsonl   crawl a site, politely
  trawl submit <url>; trawl worker      queue a job; fetch what is queued
  trawl up                              dashboard and workers, kept running
  trawl top                             watch jobs, sites and workers

Settings: trawl.config.ts, then TRAWL_* in the environment, then flags;
docs/config.md lists them.`;

/** Runs one command; the answer is the process's exit code. */
export async function runCli(args: readonly string[]): Promise<number> {
  // Stdout carries results and nothing else: what a spider prints goes with the messages.
  globalThis.console = new Console(process.stderr);
  const program = createProgram(listenForStops());
  try {
    await program.parseAsync([...args], { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    return failed(error);
  }
}

/** Every command, ready to parse; docs/cli.md is rendered from it. */
export function createProgram(stops: Stops): Command {
  const program = new Command("trawl")
    .description("Distributed web scraping: polite by construction, nothing lost, nothing twice.")
    .version(VERSION)
    .showHelpAfterError("(add --help to see what this command takes)")
    .configureHelp(HELP_STYLE)
    .configureOutput({
      outputError: (text, write) => write(complaint(text.trimEnd().replace(/^error: /, "BAD_USAGE: "))),
    })
    .exitOverride()
    .addHelpText("after", HELP);
  addCrawl(program, stops);
  addTry(program);
  addSubmit(program, stops);
  addWorker(program, stops);
  addServe(program, stops);
  addUp(program, stops);
  addKeys(program);
  addSchedule(program);
  addWorkers(program);
  addTop(program, stops);
  addJobs(program);
  addRecords(program);
  addDead(program);
  addExplain(program);
  addTrace(program);
  addControl(program);
  addDelete(program, stops);
  addChange(program);
  addDoctor(program);
  addDemo(program, stops);
  for (const command of program.commands) command.exitOverride();
  return program;
}

function failed(error: unknown): number {
  // Commander has printed its own: help and version end well, everything else is usage.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ERRORS.BAD_USAGE.exit;
  if (isTrawlError(error)) {
    process.stderr.write(complaint(`${error.code}: ${error.message}`));
    return error.exitCode;
  }
  const { stack, message } = error as Error;
  const words = `INTERNAL: ${message}; this is a bug of Trawl, please report it with this:\n${stack}`;
  process.stderr.write(complaint(words));
  return ERRORS.INTERNAL.exit;
}

/** Further lines are indented: what is quoted in them cannot pass for a complaint of ours. */
function complaint(text: string): string {
  return `trawl: ${showableLines(text).replaceAll("\n", "\n  ")}\n`;
}
