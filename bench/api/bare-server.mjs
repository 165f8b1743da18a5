/**
 * The baseline `bare`: a fastify handler that parses the body of a submission and validates its URLs. It stores
 * nothing.
 */
import fastify from "fastify";

const app = fastify({ bodyLimit: 64 * 1024 * 1024 });

app.post("/v1/jobs", async (request, reply) => {
  const good = request.body.urls.filter((url) => URL.canParse(url) && new URL(url).protocol.startsWith("http"));
  reply.code(202);
  return { accepted: good.length };
});

process.stdout.write(`${JSON.stringify({ url: await app.listen({ port: 0, host: "127.0.0.1" }) })}\n`);
