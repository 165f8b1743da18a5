/** One connection, one conversation, no second try: how the servers of tests are set up and looked at. */
import { Redis } from "ioredis";

/** Runs `talk` on a connection of its own; rejects if the server is not there. */
export async function withRedis<T>(port: number, talk: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({
    host: "127.0.0.1",
    port,
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    // A server that is still loading its file must be able to say so.
    enableReadyCheck: false,
  });
  // `connect` rejects with the same; unheard, it would be printed as well.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    return await talk(redis);
  } finally {
    redis.disconnect();
  }
}

/** False while the server is not there, or loads. */
export async function answersPing(port: number): Promise<boolean> {
  return withRedis(port, (redis) => redis.ping()).then(
    (answer) => answer === "PONG",
    () => false,
  );
}
