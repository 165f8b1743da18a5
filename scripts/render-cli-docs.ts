/** Renders docs/cli.md: what each command takes comes from the program itself, the words around it from cli-sections.ts. */
import type { Command, Help } from "commander";
import { isShared } from "../src/cli/help.ts";
import { createProgram } from "../src/cli/run.ts";
import type { Stops } from "../src/cli/stops.ts";
import { type CliSection, INTRODUCTION, SECTIONS } from "./cli-sections.ts";

/** Nothing is run, so nothing is to be stopped. */
const FORGOTTEN = { forget: () => {} };
const NO_STOPS: Stops = {
  once: () => FORGOTTEN,
  atOnce: () => FORGOTTEN,
  ask: () => {},
  onStray: () => ({ forget: () => {} }),
  neverAtOnce: () => {},
  mayEndEarly: () => {},
  isAsked: false,
};

export function cliPage(note: string): string {
  const { commands } = createProgram(NO_STOPS);
  const names = commands.map((command) => command.name());
  const strangers = Object.keys(SECTIONS).filter((name) => !names.includes(name));
  if (strangers.length > 0)
    throw new Error(`scripts/cli-sections.ts has commands that are gone: ${strangers.join(", ")}`);
  const contents = names.map((name) => `[${name}](#trawl-${name})`).join(" · ");
  return [INTRODUCTION, contents, ...commands.map((command) => section(command, sectionOf(command))), note].join(
    "\n\n",
  );
}

function sectionOf(command: Command): CliSection {
  const found = SECTIONS[command.name()];
  if (found !== undefined) return found;
  throw new Error(`trawl ${command.name()} has no words in scripts/cli-sections.ts: write some`);
}

function section(command: Command, { examples, notes }: CliSection): string {
  const help = command.createHelp();
  return [
    `## trawl ${command.name()}`,
    `\`${help.commandUsage(command)}\``,
    sentence(command.description()),
    optionTable(command, help),
    `\`\`\`sh\n${examples.join("\n")}\n\`\`\``,
    ...(notes === undefined ? [] : [notes]),
  ].join("\n\n");
}

/** Its own flags one by one, and the shared ones, which the introduction explains, in one row. */
function optionTable(command: Command, help: Help): string {
  const options = help.visibleOptions(command).filter(({ long }) => long !== "--help");
  const own = options
    .filter((option) => !isShared(option))
    .map((option) => `| \`${cell(help.optionTerm(option))}\` | ${prose(help.optionDescription(option))} |`);
  const shared = options.filter(isShared).map(({ long }) => `\`${long}\``);
  const rows = shared.length === 0 ? own : [...own, `| ${shared.join(", ")} | as everywhere |`];
  return ["| flag | meaning |", "|---|---|", ...rows].join("\n");
}

function sentence(text: string): string {
  return prose(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

/** Words that hold rules and globs, which Markdown would take for its own. */
function prose(text: string): string {
  return cell(text.replaceAll("*", "\\*").replaceAll("<", "&lt;"));
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
