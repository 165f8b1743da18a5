// Starts a server, says where, and stays until it is killed: s3.test.ts looks what becomes of the server.
import { createJiti } from "jiti";

const { startS3 } = await createJiti(import.meta.url).import("./s3.ts");
const { pid, folder } = await startS3();
console.log(JSON.stringify({ pid, folder }));
setInterval(() => undefined, 60_000);
