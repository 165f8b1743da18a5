// Starts a server, prints its pid and folder, and runs until it is killed: redis.test.ts checks that the server ends
// too.
import { readlinkSync } from "node:fs";
import { createJiti } from "jiti";

const { startRedis } = await createJiti(import.meta.url).import("./redis.ts");
const { pid } = await startRedis();
console.log(JSON.stringify({ pid, folder: readlinkSync(`/proc/${pid}/cwd`) }));
setInterval(() => undefined, 60_000);
