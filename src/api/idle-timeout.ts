import type { FastifyReply } from "fastify";

type Response = FastifyReply["raw"];
type Socket = NonNullable<Response["socket"]>;

/**
 * Closes the connection of a stream when the client has read nothing for the socket's timeout. If the server itself has sent
 * nothing, as during a search without results, the client has read everything, and the timeout starts again.
 */
export function extendIdleTimeout(response: Response): void {
  response.on("timeout", (socket: Socket) => {
    if (response.writableLength > 0) socket.destroy();
    else socket.setTimeout(socket.timeout ?? 0);
  });
}
