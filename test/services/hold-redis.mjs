// Starts a server, says where, and stays until it is killed: redis.test.ts looks what becomes of the server.
import { readlinkSync } from "node:fs";
import { createJiti } from "jiti";

const { startRedis } = await createJiti(import.meta.url).import("./redis.ts");
const { pid } = await startRedis();
console.log(JSON.stringify({ pid, folder: readlinkSync(`/proc/${pid}/cwd`) }));
setInterval(() => undefined, 60_000);
