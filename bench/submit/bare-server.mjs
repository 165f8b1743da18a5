/**
 * The baseline `bare`: a minimal server to compare with. A fastify handler pushes the valid http(s) URLs of a request
 * to a Redis list, in one pipeline. It has no canonical URLs, no deduplication and no jobs.
 */
import fastify from "fastify";
import { Redis } from "ioredis";

const URLS_PER_PUSH = 1_000;
const [redisUrl] = process.argv.slice(2);
const redis = new Redis(redisUrl);
const app = fastify({ bodyLimit: 64 * 1024 * 1024 });

app.post("/jobs", async (request, reply) => {
  const good = request.body.urls.filter((url) => URL.canParse(url) && new URL(url).protocol.startsWith("http"));
  const pipeline = redis.pipeline();
  for (let from = 0; from < good.length; from += URLS_PER_PUSH) {
    pipeline.rpush("bare", good.slice(from, from + URLS_PER_PUSH));
  }
  await pipeline.exec();
  reply.code(202);
  return { accepted: good.length };
});

process.stdout.write(`${JSON.stringify({ url: await app.listen({ port: 0, host: "127.0.0.1" }) })}\n`);
