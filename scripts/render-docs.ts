/** Renders the pages of docs/ that are held equal to the code: commands, configuration, errors, states. */
import { SETTINGS } from "../src/config/schema.ts";
import { JOB_MOVES } from "../src/domain/job.ts";
import { DEAD_REASONS, REFUSE_REASONS, RETRY_REASONS, TASK_MOVES } from "../src/domain/task.ts";
import { ERRORS } from "../src/errors.ts";
import { cliPage } from "./render-cli-docs.ts";
import { metricsPage } from "./render-metrics-docs.ts";

const NOTE = "This page is written by `npm run docs`; a test holds it equal to the code.\n";

/** File name in docs/ -> its text. */
export function renderDocs(): Record<string, string> {
  return {
    "cli.md": cliPage(NOTE),
    "config.md": configPage(),
    "errors.md": errorsPage(),
    "metrics.md": metricsPage(NOTE),
    "state-machine.md": statesPage(),
  };
}

const CONFIG_EXAMPLE = 'export default { userAgent: "acme-prices/1.0 (+https://acme.example/bot)", rate: "2/s" };';

function configPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, field]) => {
    const shown = field.shown === "" ? "(empty)" : `\`${field.shown}\``;
    return `| \`${name}\` | \`${field.env}\` | ${shown} | ${field.takes} | ${field.doc} |`;
  });
  return `# Configuration

Settings come from, later ones winning: the defaults below, \`trawl.config.ts\` in the working folder, the environment,
flags. A job's own words (\`politeness\`, \`retries\`, \`limits\`) win over all of them for that job. Unknown settings and
values out of range are refused, all at once, with exit code 2.

\`\`\`ts
// trawl.config.ts
${CONFIG_EXAMPLE}
\`\`\`

| setting | environment | default | takes | meaning |
|---|---|---|---|---|
${rows.join("\n")}

${NOTE}`;
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { exit, means, fix }]) => `| \`${code}\` | ${exit} | ${means} | ${fix} |`,
  );
  return `# Errors

Every error Trawl raises on purpose has a stable code. On the command line it is printed on stderr as
\`trawl: CODE: what happened, to which thing, and what to change\`; in code it is a \`TrawlError\` with that \`code\`.

| code | exit code | means | what to do |
|---|---|---|---|
${rows.join("\n")}

## Why a task is dead

What the web does to a task is not an error but an outcome. These are the reasons of dead letters (\`trawl dead\`):

${reasonTable(DEAD_REASONS)}

These lead to another try first, and to the dead letter \`retries_spent\` after the last:

${reasonTable(RETRY_REASONS)}

And these to a URL never being fetched at all, which the ledger counts as \`refused\`:

${reasonTable(REFUSE_REASONS)}

${NOTE}`;
}

function statesPage(): string {
  return `# States

A task is one URL of one job. \`queued\`, \`delayed\` and \`leased\` tasks are in the frontier; the others have left it and
are only counted, but for dead letters, which are kept to be looked at and replayed.

${diagram(TASK_MOVES)}

| move | when |
|---|---|
| queued or delayed -> leased | a worker is granted it: its site may be hit now |
| leased -> done | its page, records and links are stored |
| leased -> delayed | the try failed and may be made again, after a wait |
| leased -> queued or delayed | its lease expired, or its worker stopped: it goes back where it came from |
| leased -> dead | a failure not worth repeating, the last retry spent, or three workers lost to it |
| leased -> refused | robots.txt disallows it |
| queued, delayed or leased -> cancelled | its job was cancelled or ran out of time |
| dead -> queued or delayed | an operator replays it, at once or at a rate |

A job:

${diagram(JOB_MOVES)}

A job is \`finished\` once, when all its URLs are in and nothing of it is queued, delayed or leased; \`failed\` if not one
page came of it though some were tried. Replaying dead letters lets it run again.

${NOTE}`;
}

function diagram(moves: Record<string, readonly string[]>): string {
  const arrows = Object.entries(moves).flatMap(([from, targets]) => targets.map((to) => `  ${from} --> ${to}`));
  return `\`\`\`mermaid\nstateDiagram-v2\n${arrows.join("\n")}\n\`\`\``;
}

function reasonTable(reasons: Record<string, string>): string {
  const rows = Object.entries(reasons).map(([reason, means]) => `| \`${reason}\` | ${means} |`);
  return `| reason | means |\n|---|---|\n${rows.join("\n")}`;
}
