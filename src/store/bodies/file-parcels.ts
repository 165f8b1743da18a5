/**
 * Parcels as files. Each is written whole or not at all; a crash after a removal was due leaves a file that nothing
 * reads.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ParcelName, Parcels } from "./bodies.ts";
import { fail, findFile, keepFile } from "./files.ts";
import { packParcel, parcelKey, unpackParcel } from "./parcel-bytes.ts";

/** Keeps parcels under `root`, the folder of bodies, made when first needed. */
export function openFileParcels(root: string): Parcels {
  const pathOf = (name: ParcelName) => join(root, parcelKey(name));
  return {
    async put(name, parcel) {
      const path = pathOf(name);
      try {
        await keepFile(root, path, await packParcel(parcel));
      } catch (cause) {
        fail("parcels.put", path, cause);
      }
    },
    async get(name) {
      const path = pathOf(name);
      const packed = await findFile(path).catch((cause: unknown) => fail("parcels.get", path, cause));
      return packed === undefined ? "missing" : unpackParcel(packed);
    },
    async remove(name) {
      const path = pathOf(name);
      await rm(path, { force: true }).catch((cause: unknown) => fail("parcels.remove", path, cause));
    },
  };
}
