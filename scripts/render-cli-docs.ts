/** Renders docs/cli.md: usage and flags come from the program itself, the text around them from cli-sections.ts. */
import type { Command, Help } from "commander";
import { isShared } from "../src/cli/help.ts";
import { createProgram } from "../src/cli/run.ts";
import type { Shutdown } from "../src/cli/shutdown.ts";
import { type CliSection, INTRODUCTION, SECTIONS } from "./cli-sections.ts";

/** No command runs here, so no signal handler is needed. */
const REGISTRATION = { remove: () => {} };
const NO_SHUTDOWN: Shutdown = {
  onStop: () => REGISTRATION,
  onKill: () => REGISTRATION,
  onHandlerError: () => REGISTRATION,
  request: () => {},
  ignoreSecondSignal: () => {},
  exitZeroWhileStarting: () => {},
  isRequested: false,
};

export function cliPage(note: string): string {
  const { commands } = createProgram(NO_SHUTDOWN);
  const names = commands.map((command) => command.name());
  const unknown = Object.keys(SECTIONS).filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new Error(`scripts/cli-sections.ts has sections of commands that do not exist: ${unknown.join(", ")}`);
  const contents = names.map((name) => `[${name}](#trawl-${name})`).join(" · ");
  return [INTRODUCTION, contents, ...commands.map((command) => section(command, sectionOf(command))), note].join(
    "\n\n",
  );
}

function sectionOf(command: Command): CliSection {
  const found = SECTIONS[command.name()];
  if (found !== undefined) return found;
  throw new Error(`trawl ${command.name()} has no section in scripts/cli-sections.ts: write one`);
}

function section(command: Command, { examples, notes }: CliSection): string {
  const help = command.createHelp();
  return [
    `## trawl ${command.name()}`,
    `\`${help.commandUsage(command)}\``,
    sentence(command.description()),
    optionTable(command, help),
    ...(examples.length === 0 ? [] : [`\`\`\`sh\n${examples.join("\n")}\n\`\`\``]),
    ...(notes === undefined ? [] : [notes]),
  ].join("\n\n");
}

/** One row per flag of the command, and one row for the shared flags, which the introduction explains. */
function optionTable(command: Command, help: Help): string {
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  const own = options
    .filter((option) => !isShared(option))
    .map((option) => `| \`${cell(help.optionTerm(option))}\` | ${prose(help.optionDescription(option))} |`);
  const shared = options.filter(isShared).map(({ long }) => `\`${long}\``);
  const rows =
    shared.length === 0 ? own : [...own, `| ${shared.join(", ")} | see [the introduction](#the-command-line) |`];
  return ["| flag | meaning |", "|---|---|", ...rows].join("\n");
}

function sentence(text: string): string {
  return prose(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/** Escapes the characters of rules and globs that Markdown would interpret. */
function prose(text: string): string {
  return cell(text.replaceAll("*", "\\*").replaceAll("<", "&lt;"));
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
