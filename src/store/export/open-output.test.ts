import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoredRecord } from "../store.ts";
import { openOutput } from "./open-output.ts";
import { openPartFile } from "./part-file.ts";

const NONE = { columns: undefined };
const RECORD: StoredRecord = {
  id: 1,
  jobId: "job",
  taskId: "task",
  url: "https://a.test/",
  status: 200,
  fetchedAt: 0,
  depth: 0,
  fields: { text: "x".repeat(100_000) },
};

describe("an output file", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "trawl-output-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it("appears under its name only when it is complete", async () => {
    const path = join(folder, "out.json");
    const output = await openOutput(path, "json", NONE);
    await output.write([RECORD]);
    expect(await readdir(folder)).toEqual(["out.json.part"]);

    await output.close();
    await output.close();
    await output.abort();

    expect(await readdir(folder)).toEqual(["out.json"]);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject([{ text: RECORD.fields.text, _job: "job" }]);
  });

  it("leaves the previous file unchanged when it is aborted", async () => {
    const path = join(folder, "out.jsonl");
    await writeFile(path, "before\n");
    const output = await openOutput(path, "jsonl", NONE);
    await output.write([RECORD]);

    await output.abort();
    await output.abort();

    expect(await readdir(folder)).toEqual(["out.jsonl"]);
    expect(await readFile(path, "utf8")).toBe("before\n");
  });

  it("replaces the previous file and an old .part file when it is closed", async () => {
    const path = join(folder, "out.csv");
    await writeFile(path, "before\n".repeat(100));
    await writeFile(`${path}.part`, "left over\n".repeat(100));
    const output = await openOutput(path, "csv", NONE);

    await output.close();

    expect(await readFile(path, "utf8")).toBe("_url,_status,_fetchedAt,_job,_depth\r\n");
  });

  it("writes to the target of a symbolic link and keeps the link", async () => {
    const [path, target] = [join(folder, "link.jsonl"), join(folder, "target.jsonl")];
    await writeFile(target, "before");
    await symlink(target, path);
    const file = await openPartFile(path);
    await file.write("after");

    await file.close();

    expect(await readlink(path)).toBe(target);
    expect(await readFile(target, "utf8")).toBe("after");
  });

  it.skipIf(!existsSync("/dev/null"))("writes to a device in place and does not replace it", async () => {
    const path = join(folder, "device");
    await symlink("/dev/null", path);
    const file = await openPartFile(path);
    await file.write("into the void");

    await file.close();

    expect(await readlink(path)).toBe("/dev/null");
    expect(await readdir(folder)).toEqual(["device"]);
  });

  it("reports the folder that does not exist", async () => {
    const path = join(folder, "missing", "out.csv");

    await expect(openOutput(path, "csv", NONE)).rejects.toMatchObject({
      code: "BAD_OUTPUT",
      detail: { path },
      message: expect.stringMatching(/missing\/out\.csv.*the folder .*missing does not exist: create it first/),
    });
  });

  it("fails if the path is a folder, or is below a file", async () => {
    await mkdir(join(folder, "out.csv"));
    await writeFile(join(folder, "file"), "");

    await expect(openPartFile(join(folder, "out.csv"))).rejects.toThrow(/the path is a folder: choose a file in it/);
    await expect(openPartFile(join(folder, "file", "out.csv"))).rejects.toThrow(/file is not a folder/);
    await expect(openPartFile("")).rejects.toMatchObject({ code: "BAD_OUTPUT" });
    await expect(openPartFile(join(folder, "no-such/"))).rejects.toMatchObject({ code: "BAD_OUTPUT" });
    expect(await readdir(join(folder, "out.csv"))).toEqual([]);
  });

  it.skipIf(!existsSync("/dev/full"))("reports a full disk, and can then be aborted", async () => {
    const path = join(folder, "out.jsonl");
    await symlink("/dev/full", `${path}.part`);
    const output = await openOutput(path, "jsonl", NONE);

    await expect(output.write([RECORD])).rejects.toMatchObject({
      code: "BAD_OUTPUT",
      message: expect.stringMatching(/out\.jsonl.*the disk is full: free some space/),
    });

    await output.abort();
    expect(await readdir(folder)).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)("does not replace a file that this user cannot write", async () => {
    const path = join(folder, "out.jsonl");
    await writeFile(path, "protected", { mode: 0o444 });

    await expect(openPartFile(path)).rejects.toThrow(/this user cannot write there/);
  });
});
