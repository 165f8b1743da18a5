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

This page lists all settings. Settings come from four sources: the defaults below, \`trawl.config.ts\` (or \`.mts\`,
\`.js\`, \`.mjs\`) in the working folder, the environment, and flags. Later sources override earlier ones. The keys of a
job (\`politeness\`, \`retries\`, \`limits\`) override the first three sources for that job, and the flags of
\`trawl crawl\`, \`submit\` and \`schedule\` override the keys of the job. Trawl rejects unknown settings and invalid
values, reports all of them at once, and exits with 2.

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

A failed request is not an error of Trawl. It is an outcome of a task. Every dead letter (\`trawl dead\`) has one of these
reasons:

${reasonTable(DEAD_REASONS)}

If an attempt fails for one of the following reasons, the task is retried. If the last retry fails too, the task becomes
a dead letter with the reason \`retries_spent\`.

${reasonTable(RETRY_REASONS)}

For the following reasons, Trawl does not fetch a URL, and counts it as \`refused\` in the ledger of the job. The ledger
also counts these URLs as \`refused\`: links of a page beyond the first \`maxLinks\`, and the target of a redirect that the
job does not follow.

${reasonTable(REFUSE_REASONS)}

${NOTE}`;
}

function statesPage(): string {
  return `# States

A task is one URL of one job. This page shows the states of tasks and jobs. The frontier stores tasks in the states
\`queued\`, \`delayed\`, \`leased\` and \`dead\`. Dead tasks are the dead letters, which you can inspect and replay. The
frontier only counts the tasks in the states \`done\`, \`refused\` and \`cancelled\`.

${diagram(TASK_MOVES)}

| transition | when |
|---|---|
| queued or delayed -> leased | the frontier grants the task to a worker, because its site allows a request |
| leased -> done | the page, its records and its links are stored |
| leased -> delayed | the attempt failed and will be retried after a wait |
| leased -> queued or delayed | the lease expired, or the worker stopped; the task returns to the state before the lease |
| leased -> dead | the attempt failed permanently, the last retry failed, or three workers died while running the task |
| leased -> refused | robots.txt disallows the URL; or the task delivers an event of a webhook that no longer exists |
| queued, delayed or leased -> cancelled | the job was cancelled or reached its time limit |
| dead -> queued or delayed | a user replays the dead letter; the task is delayed if the rate of the replay requires a wait |

The states of a job:

${diagram(JOB_MOVES)}

A job ends when it is sealed and none of its tasks is queued, delayed or leased. Its state is then \`failed\` if it has no
pages and at least one of its URLs failed or was refused; otherwise \`finished\`. If you replay dead letters of an ended
job, the job runs again. Dead letters of a cancelled job cannot be replayed.

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
