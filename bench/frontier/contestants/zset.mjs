/**
 * A minimal queue on Redis: one sorted set. It has no leases: a URL is removed when it is taken, and lost if its worker
 * crashes. It detects duplicates only of pending URLs.
 */
import { Redis } from "ioredis";

const KEY = "queue";

export async function openZset({ url, variant: { max = 500 } }) {
  const redis = new Redis(url);
  return {
    submit: (tasks) => redis.zadd(KEY, "NX", ...tasks.flatMap(({ url }) => [5, url])),
    async drain(total) {
      let taken = 0;
      const keepTaking = async () => {
        while (taken < total) {
          const pairs = await redis.zpopmin(KEY, max);
          taken += pairs.length / 2;
        }
      };
      await Promise.all(Array.from({ length: 4 }, keepTaking));
    },
    close: () => redis.disconnect(),
  };
}
