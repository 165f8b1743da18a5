import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { newFolder } from "../../e2e/folder.ts";
import { useProgram } from "../../services/program.ts";

const program = useProgram(new URL("./opener-process.ts", import.meta.url));
const PROCESSES = 4;
const FILES = 60;

it("several processes can open a new SQLite file at the same time", async () => {
  const folder = newFolder();
  const openers = Array.from({ length: PROCESSES }, () => fork(program()));
  onTestFinished(() => {
    for (const opener of openers) opener.kill();
  });
  const nextReplies = () => Promise.all(openers.map(async (opener) => (await once(opener, "message"))[0] as string));
  await nextReplies(); // every process is ready

  const results: string[] = [];
  for (let nth = 0; nth < FILES; nth += 1) {
    const round = nextReplies();
    for (const opener of openers) opener.send(join(folder, `${nth}.db`));
    results.push(...(await round));
  }

  expect(results.filter((result) => result !== "opened")).toEqual([]);
  expect(results).toHaveLength(PROCESSES * FILES);
});
