/** How `--help` looks, for every command. */
import { type Argument, Help, type HelpConfiguration, type Option } from "commander";

const SHARED: readonly string[] = ["--api", "--broker", "--store", "--log-level", "--json", "--help"];

/** Told last: these are the same everywhere, and a command's own flags are what one comes for. */
export function isShared({ long }: Option): boolean {
  return SHARED.includes(long ?? "");
}

export const HELP_STYLE: HelpConfiguration = {
  visibleOptions(command) {
    const options = new Help().visibleOptions(command);
    return [...options.filter((option) => !isShared(option)), ...options.filter(isShared)];
  },
  /** Without `[options]`, which all of them take. */
  subcommandTerm(command) {
    return [command.name(), ...command.registeredArguments.map(argumentWords)].join(" ");
  },
  optionDescription(option) {
    return [option.description, ...choiceWords(option), ...defaultWords(option)].join(" ");
  },
};

function argumentWords(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

function choiceWords({ argChoices }: Option): string[] {
  return argChoices === undefined ? [] : [`(${argChoices.join(", ")})`];
}

/** An empty list is no default worth telling. */
function defaultWords({ defaultValue, defaultValueDescription }: Option): string[] {
  if (defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0)) return [];
  return [`(default ${defaultValueDescription ?? String(defaultValue)})`];
}
