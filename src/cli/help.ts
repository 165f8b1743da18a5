/** The format of `--help` for every command. */
import { type Argument, Help, type HelpConfiguration, type Option } from "commander";

const SHARED: readonly string[] = ["--api", "--broker", "--store", "--log-level", "--json", "--help"];

/** True for flags that most commands have. They are listed last, after the command's own flags. */
export function isShared({ long }: Option): boolean {
  return SHARED.includes(long ?? "");
}

export const HELP_STYLE: HelpConfiguration = {
  visibleOptions(command) {
    const options = new Help().visibleOptions(command);
    return [...options.filter((option) => !isShared(option)), ...options.filter(isShared)];
  },
  /** The name and arguments of a command, without `[options]`, which every command accepts. */
  subcommandTerm(command) {
    return [command.name(), ...command.registeredArguments.map(argumentText)].join(" ");
  },
  optionDescription(option) {
    const notes = [...choicesText(option), ...defaultText(option)];
    return notes.length === 0 ? option.description : `${option.description} (${notes.join("; ")})`;
  },
};

function argumentText(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? "..." : "");
  return argument.required ? `<${name}>` : `[${name}]`;
}

function choicesText({ argChoices }: Option): string[] {
  if (argChoices === undefined) return [];
  return [`${argChoices.slice(0, -1).join(", ")} or ${argChoices.at(-1)}`];
}

/**
 * The default of a flag. If a setting defines it, the flag has only a description of it. An empty list is not shown.
 */
function defaultText({ defaultValue, defaultValueDescription }: Option): string[] {
  if (defaultValueDescription !== undefined) return [`default ${defaultValueDescription}`];
  if (defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0)) return [];
  return [`default ${String(defaultValue)}`];
}
