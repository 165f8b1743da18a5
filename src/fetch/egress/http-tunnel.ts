/** Opens a connection through an HTTP proxy, with CONNECT (RFC 9110, section 9.3.6). */
import type { Socket } from "node:net";
import { PROXY_FAILED, PROXY_NOT_CONNECTED, proxyError } from "./proxy-error.ts";
import { createSocketReader } from "./socket-reader.ts";
import type { Credentials, TunnelTarget } from "./socks5.ts";

const MAX_ANSWER_BYTES = 16_384;

/** Resolves when the socket is connected to the target. */
export async function openHttpTunnel(socket: Socket, target: TunnelTarget, credentials: Credentials): Promise<void> {
  const authority = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;
  const authorization = proxyAuthorization(credentials);
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `host: ${authority}`,
    ...(authorization === undefined ? [] : [`proxy-authorization: ${authorization}`]),
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const answer = await createSocketReader(socket).until("\r\n\r\n", MAX_ANSWER_BYTES);
  const [, status] = /^HTTP\/1\.[01] (\d{3})\b/.exec(answer.toString("latin1")) ?? [];
  if (status === undefined) throw proxyError(PROXY_FAILED, "the answer is not HTTP");
  if (status.startsWith("2")) return;
  if (status === "407") throw proxyError(PROXY_FAILED, `it refused the credentials (${status})`);
  const advice = target.port === 443 ? "" : '; if it connects only to port 443, set resolve: "proxy" for it';
  throw proxyError(PROXY_NOT_CONNECTED, `it did not connect to ${authority} (${status})${advice}`);
}

/** The header `proxy-authorization`; undefined without credentials. */
export function proxyAuthorization({ username, password }: Credentials): string | undefined {
  if (username === "" && password === "") return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
