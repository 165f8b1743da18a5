/** Short connections without retries, to set up and inspect the servers of tests. */
import { Redis } from "ioredis";

/** Runs `work` on a new connection. Rejects if the server does not answer. */
export async function withRedis<T>(port: number, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({
    host: "127.0.0.1",
    port,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    // A server that is loading its file must be able to answer with that error.
    enableReadyCheck: false,
  });
  // `connect` rejects with the same error. Without a handler, ioredis would also print it.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** False while the server does not answer, or loads its file. */
export async function answersPing(port: number): Promise<boolean> {
  return withRedis(port, (redis) => redis.ping()).then(
    (answer) => answer === "PONG",
    () => false,
  );
}
