import type { FastifyReply } from "fastify";

type Response = FastifyReply["raw"];
type Socket = NonNullable<Response["socket"]>;

/**
 * A connection on which nothing moves is closed: its client has gone. Not where the silence is ours, as while a search has
 * found nothing yet: all that there was to say has been taken then, and the connection gets as long again.
 */
export function bearSilence(answer: Response): void {
  answer.on("timeout", (socket: Socket) => {
    if (answer.writableLength > 0) socket.destroy();
    else socket.setTimeout(socket.timeout ?? 0);
  });
}
