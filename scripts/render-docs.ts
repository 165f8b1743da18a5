/** Renders the pages of docs/ that are generated from the code: commands, configuration, errors, metrics, states. */
import { SETTINGS } from "../src/config/schema.ts";
import { JOB_MOVES } from "../src/domain/job.ts";
import { DEAD_REASONS, REFUSE_REASONS, RETRY_REASONS, TASK_MOVES } from "../src/domain/task.ts";
import { ERRORS } from "../src/errors.ts";
import { cliPage } from "./render-cli-docs.ts";
import { metricsPage } from "./render-metrics-docs.ts";

const NOTE = "`npm run docs` generates this page from the code, and a test checks that it is current.\n";

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
    const byDefault = field.default === "" ? "(empty)" : `\`${field.default}\``;
    return `| \`${name}\` | \`${field.env}\` | ${byDefault} | ${field.takes} | ${field.doc} |`;
  });
  return `# Configuration

Settings come from the defaults below, \`trawl.config.ts\` (or \`.mts\`, \`.js\`, \`.mjs\`) in the working folder, the
environment, and flags; later sources override earlier ones. The keys of a job (\`politeness\`, \`retries\`, \`limits\`)
override the defaults, the file and the environment for that job. The flags of \`trawl crawl\`, \`submit\` and \`schedule\`
override the keys of the job. Trawl rejects unknown settings and invalid values, reports all of them at once, and exits
with 2.

\`\`\`ts
// trawl.config.ts
${CONFIG_EXAMPLE}
\`\`\`

| setting | environment | default | value | meaning |
|---|---|---|---|---|
${rows.join("\n")}

${NOTE}`;
}

function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, { exit, means, fix }]) => `| \`${code}\` | ${exit} | ${means} | ${fix} |`,
  );
  return `# Errors

Every error that Trawl reports has a stable code. The command line prints the error on stderr as
\`trawl: CODE: what happened and what to change\`. The [API](api.md) returns the \`code\` in the body of the response.

| code | exit code | meaning | what to do |
|---|---|---|---|
${rows.join("\n")}

## Why a task is dead

A failed request is not an error of Trawl but an outcome of its task. A dead letter (\`trawl dead\`) has one of these reasons:

${reasonTable(DEAD_REASONS)}

After the failures in the following table, the task is retried. If the last attempt fails, the task becomes a dead letter with the reason \`retries_spent\`.

${reasonTable(RETRY_REASONS)}

For the reasons in the following table, Trawl never fetches the URL. The ledger counts the URL as \`refused\`. It also
counts these URLs as \`refused\`: the links of a page above \`maxLinks\`, and the target of a redirect that the job does not
follow.

${reasonTable(REFUSE_REASONS)}

${NOTE}`;
}

function statesPage(): string {
  return `# States

A task is one URL of one job. \`queued\`, \`delayed\` and \`leased\` tasks are in the frontier. Tasks in the other states have
left the frontier and are only counted. Dead letters are also stored, so that you can inspect and replay them.

${diagram(TASK_MOVES)}

| transition | when |
|---|---|
| queued or delayed -> leased | the frontier grants it to a worker, because a request to its site is allowed now |
| leased -> done | its page, records and links are stored |
| leased -> delayed | the attempt failed and will be retried after a wait |
| leased -> queued or delayed | its lease expired or its worker stopped; it returns to its previous state |
| leased -> dead | the attempt failed permanently, the last retry failed, or three workers died while running the task |
| leased -> refused | robots.txt disallows it |
| queued, delayed or leased -> cancelled | its job was cancelled or reached its time limit |
| dead -> queued or delayed | a user replays it, at once or at a given rate |

The states of a job:

${diagram(JOB_MOVES)}

A job becomes \`finished\` once, when it is sealed and none of its tasks is queued, delayed or leased. It becomes \`failed\`
instead if it has no page and at least one of its URLs failed or was refused. Replaying its dead letters makes the job run again.

${NOTE}`;
}

function diagram(moves: Record<string, readonly string[]>): string {
  const arrows = Object.entries(moves).flatMap(([from, targets]) => targets.map((to) => `  ${from} --> ${to}`));
  return `\`\`\`mermaid\nstateDiagram-v2\n${arrows.join("\n")}\n\`\`\``;
}

function reasonTable(reasons: Record<string, string>): string {
  const rows = Object.entries(reasons).map(([reason, means]) => `| \`${reason}\` | ${means} |`);
  return `| reason | meaning |\n|---|---|\n${rows.join("\n")}`;
}
