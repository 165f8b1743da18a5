import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { newFolder } from "../../e2e/folder.ts";
import { useProgram } from "../../services/program.ts";

const program = useProgram(new URL("./opener-process.ts", import.meta.url));
const PROCESSES = 4;
const FILES = 60;

it("opens a new SQLite file in several processes at once, and turns none of them away", async () => {
  const folder = newFolder();
  const openers = Array.from({ length: PROCESSES }, () => fork(program()));
  onTestFinished(() => {
    for (const opener of openers) opener.kill();
  });
  const said = () => Promise.all(openers.map(async (opener) => (await once(opener, "message"))[0] as string));
  await said();

  const words: string[] = [];
  for (let nth = 0; nth < FILES; nth += 1) {
    const round = said();
    for (const opener of openers) opener.send(join(folder, `${nth}.db`));
    words.push(...(await round));
  }

  expect(words.filter((word) => word !== "opened")).toEqual([]);
  expect(words).toHaveLength(PROCESSES * FILES);
});
