/** `node --import jiti/register test/dashboard/stage-cli.ts [--redis]`: runs a fleet with data until Ctrl-C. */
import { fillStage } from "./fill-stage.ts";
import { openStage } from "./stage.ts";

const stage = await openStage({ broker: process.argv.includes("--redis") ? "redis" : "sqlite" });
process.once("SIGINT", close).once("SIGTERM", close);
console.log(`${stage.url}/  key ${stage.key}  (${stage.folder})`);
const jobs = await fillStage(stage);
console.log(`filled: ${JSON.stringify(jobs, undefined, 2)}`);

async function close(): Promise<void> {
  await stage.close();
  process.exit(0);
}
