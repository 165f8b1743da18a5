/** Small values that all workers share (F24). A key is on the shard of the site of the same name. */
import type { Frontier } from "../frontier.ts";
import type { Shards } from "./cluster/shards.ts";

type SharedValues = { find: Frontier["findValue"]; keep: Frontier["keepValue"] };

export function createSharedValues({ shards }: { shards: Shards }): SharedValues {
  return {
    async find(key) {
      const [, version, value] = await shards.ofSite(key).run("find-value", key);
      return version === undefined ? undefined : { version: Number(version), value: String(value) };
    },
    async keep(key, value, { version, ttlMs }) {
      const [, written] = await shards.ofSite(key).run("keep-value", key, value, version, ttlMs);
      return Number(written) === 0 ? undefined : Number(written);
    },
  };
}
