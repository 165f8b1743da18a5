import type { Parcels } from "../bodies.ts";
import { packParcel, parcelKey, unpackParcel } from "../parcel-bytes.ts";
import type { S3Objects } from "./s3-objects.ts";

/**
 * Parcels in a bucket: workers that fetch and workers that parse need share no folder. A crash after a removal was due
 * leaves an object that nothing reads.
 */
export function openS3Parcels(objects: S3Objects): Parcels {
  return {
    put: async (name, parcel) => objects.put("parcels.put", parcelKey(name), await packParcel(parcel)),
    async get(name) {
      const packed = await objects.find("parcels.get", parcelKey(name));
      return packed === undefined ? "missing" : unpackParcel(packed);
    },
    remove: (name) => objects.remove("parcels.remove", parcelKey(name)),
  };
}
