// Starts a server, prints its pid and folder, and runs until it is killed: s3.test.ts checks that the server ends too.
import { createJiti } from "jiti";

const { startS3 } = await createJiti(import.meta.url).import("./s3.ts");
const { pid, folder } = await startS3();
console.log(JSON.stringify({ pid, folder }));
setInterval(() => undefined, 60_000);
