// Starts a server, prints its pid and folder, and runs until it is killed: postgres.test.ts checks that the server ends
// too.
import { readlinkSync } from "node:fs";
import { dirname } from "node:path";
import { createJiti } from "jiti";

const { startPostgres } = await createJiti(import.meta.url).import("./postgres.ts");
const { pid } = await startPostgres();
console.log(JSON.stringify({ pid, folder: dirname(readlinkSync(`/proc/${pid}/cwd`)) }));
setInterval(() => undefined, 60_000);
