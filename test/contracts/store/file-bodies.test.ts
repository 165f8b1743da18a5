import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFileBodies } from "../../../src/store/bodies/file-bodies.ts";
import { describeBodies } from "./describe-bodies.ts";

describeBodies("files", async () => {
  const folder = await mkdtemp(join(tmpdir(), "trawl-bodies-"));
  return {
    open: async () => openFileBodies(join(folder, "bodies")),
    remove: () => rm(folder, { recursive: true }),
  };
});

describe("bodies in files", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "trawl-bodies-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  it("keeps equal bodies once, compressed, under two folders of their hash, with nothing left over", async () => {
    const body = Buffer.from("<p>page</p>".repeat(1000));
    const [one, two] = [openFileBodies(root), openFileBodies(root)];

    const [ref] = await Promise.all([one.put(body), one.put(body), two.put(body)]);
    await two.put(body);

    const hex = String(ref).slice("sha256:".length);
    const path = join(hex.slice(0, 2), hex.slice(2, 4), `${hex}.gz`);
    expect(await filesIn(root)).toEqual([path]);
    const bytes = await readFile(join(root, path));
    expect(gunzipSync(bytes)).toEqual(body);
    expect(bytes.length).toBeLessThan(body.length / 10);
  });

  it("names the place and the fix when its folder is a file", async () => {
    const path = join(root, "file");
    await writeFile(path, "");

    await expect(openFileBodies(path).put(Buffer.from("page"))).rejects.toMatchObject({
      code: "STORE_UNREACHABLE",
      op: "bodies.put",
      message: expect.stringMatching(/file.*name a folder in TRAWL_BODIES/),
    });
  });

  it("can be put again once what was in the way has gone", async () => {
    const path = join(root, "file");
    await writeFile(path, "");
    const bodies = openFileBodies(path);
    await expect(bodies.put(Buffer.from("page"))).rejects.toThrow();
    await rm(path);

    expect(await bodies.get(String(await bodies.put(Buffer.from("page"))))).toEqual(Buffer.from("page"));
  });

  it("names a damaged file instead of giving back half a body", async () => {
    const bodies = openFileBodies(root);
    const ref = String(await bodies.put(Buffer.from("page".repeat(1000))));
    const [path = ""] = await filesIn(root);
    const bytes = await readFile(join(root, path));

    for (const damaged of [bytes.subarray(0, bytes.length - 10), Buffer.from("not gzip")]) {
      await writeFile(join(root, path), damaged);
      await expect(bodies.get(ref)).rejects.toMatchObject({
        code: "STORE_UNREACHABLE",
        message: expect.stringMatching(/\.gz.*damaged/),
      });
    }
  });
});

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
