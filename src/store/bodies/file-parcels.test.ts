import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { openFileParcels } from "./file-parcels.ts";

const NAME = { jobId: "job", taskId: "7" };
const PAGE = { url: "https://a.test/", status: 200, headers: {}, contentType: undefined, bodyBytes: 4 };
const PARCEL = { page: { ...PAGE, tookMs: 1, fetchedAt: 2 }, body: Buffer.from("a\nb\n") };

it("gives back a page with its body until it is removed", async () => {
  const { parcels } = await newParcel();

  expect(await parcels.get(NAME)).toEqual(PARCEL);
  await parcels.remove(NAME);
  await parcels.remove(NAME);
  expect(await parcels.get(NAME)).toBe("missing");
});

it.each([
  ["that is not compressed", Buffer.from("page")],
  ["that was cut short", gzipSync("{}\n".repeat(100)).subarray(0, 20)],
  ["without anything", Buffer.alloc(0)],
  ["without a body", gzipSync("{}")],
  ["whose page is not JSON", gzipSync('{"url":"https://a\nbody')],
  ["whose page is none", gzipSync("null\nbody")],
])("calls a file %s damaged, not missing", async (_, bytes) => {
  const { parcels, path } = await newParcel();
  writeFileSync(path, bytes);

  expect(await parcels.get(NAME)).toBe("damaged");
});

async function newParcel() {
  const root = mkdtempSync(join(tmpdir(), "trawl-parcels-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const parcels = openFileParcels(root);
  await parcels.put(NAME, PARCEL);
  const [file = ""] = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"));
  return { parcels, path: join(root, file) };
}
