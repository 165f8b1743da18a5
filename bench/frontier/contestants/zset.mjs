/** The least that a queue on Redis could be: one sorted set. It forgets a URL as soon as it is taken, and loses it. */
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
