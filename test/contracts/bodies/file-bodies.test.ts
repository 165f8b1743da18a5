import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFileBodies } from "../../../src/store/bodies/file-bodies.ts";
import { openFileRequestBodies } from "../../../src/store/bodies/file-request-bodies.ts";
import { openFileSpool } from "../../../src/store/bodies/file-spool.ts";
import { describeBodies } from "./describe-bodies.ts";

describeBodies("files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawl-bodies-"));
  const root = join(folder, "bodies");
  return {
    open: async () => ({
      bodies: openFileBodies(root),
      spool: openFileSpool(root),
      requestBodies: openFileRequestBodies(root, { bodies: `file:${root}`, requestBodyBytes: 1_000_000 }),
    }),
    list: () => filesIn(root),
    read: (name) => readFile(join(root, name)),
    overwrite: (name, bytes) => writeFile(join(root, name), bytes),
    remove: () => rm(folder, { recursive: true }),
  };
});

describe("bodies in files", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "trawl-bodies-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  it("throw an error with the path and the fix if their folder is a file", async () => {
    const path = join(root, "file");
    await writeFile(path, "");

    await expect(openFileBodies(path).put(Buffer.from("page"))).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      op: "bodies.put",
      message: expect.stringMatching(/file.*set a folder in TRAWL_BODIES/),
    });
  });

  it("get a new modification time when they are put again, and are not lost to a concurrent remove", async () => {
    const bodies = openFileBodies(root);
    const ref = String(await bodies.put(Buffer.from("page")));
    const [name = ""] = await filesIn(root);
    const age = () => utimes(join(root, name), new Date(1_000_000), new Date(1_000_000));
    await age();
    await bodies.put(Buffer.from("page"));
    expect(await bodies.remove(ref, Date.now() - 60_000)).toBe(false);

    for (let round = 0; round < 50; round++) {
      await age();
      await Promise.all([bodies.put(Buffer.from("page")), openFileBodies(root).remove(ref, Date.now() - 60_000)]);
      expect(await bodies.get(ref)).toEqual(Buffer.from("page"));
    }
    expect(await filesIn(root)).toEqual([name]);
  });

  it("can be put after a file in place of their folder was removed", async () => {
    const path = join(root, "file");
    await writeFile(path, "");
    const bodies = openFileBodies(path);
    await expect(bodies.put(Buffer.from("page"))).rejects.toThrow();
    await rm(path);

    expect(await bodies.get(String(await bodies.put(Buffer.from("page"))))).toEqual(Buffer.from("page"));
  });
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
