import type { FastifyReply } from "fastify";

type Response = FastifyReply["raw"];
type Socket = NonNullable<Response["socket"]>;

/**
 * Closes the connection of a stream if the client has not read pending data for the socket's timeout. If no data is
 * pending, for example during a search without results, the timeout starts again.
 */
export function extendIdleTimeout(response: Response): void {
  response.on("timeout", (socket: Socket) => {
    if (response.writableLength > 0) socket.destroy();
    else socket.setTimeout(socket.timeout ?? 0);
  });
}
