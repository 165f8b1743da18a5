/** Opens a connection through a SOCKS5 proxy: RFC 1928, with the user names and passwords of RFC 1929. */
import { isIP, type Socket } from "node:net";
import { parseAddress } from "./address.ts";
import { PROXY_FAILED, PROXY_NOT_CONNECTED, proxyError } from "./proxy-error.ts";
import { createSocketReader, type SocketReader } from "./socket-reader.ts";

const VERSION = 5;
const NO_CREDENTIALS = 0;
const PASSWORD = 2;
const PASSWORD_VERSION = 1;
const CONNECT = 1;
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const NAME = 3;

/** What a reply other than 0 means, and whether the proxy works for other sites. */
const REPLIES: Readonly<Record<number, { text: string; isOfSite: boolean }>> = {
  1: { text: "a general failure", isOfSite: true },
  2: { text: "its rules do not allow the connection", isOfSite: true },
  3: { text: "the network is unreachable", isOfSite: true },
  4: { text: "the host is unreachable", isOfSite: true },
  5: { text: "the site refused the connection", isOfSite: true },
  6: { text: "the connection timed out", isOfSite: true },
  7: { text: "it does not support CONNECT", isOfSite: false },
  8: { text: "it does not support this type of address", isOfSite: true },
};

export type TunnelTarget = { /** An address without brackets, or a name. */ host: string; port: number };
export type Credentials = { username: string; password: string };

/** Resolves when the socket is connected to the target. */
export async function openSocks5Tunnel(socket: Socket, target: TunnelTarget, credentials: Credentials): Promise<void> {
  const reader = createSocketReader(socket);
  await greet(socket, reader, credentials);
  socket.write(connectRequest(target));
  const [version, reply = 1, , type = 0] = await reader.bytes(4);
  if (version !== VERSION) throw proxyError(PROXY_FAILED, "the answer is not SOCKS5");
  if (reply !== 0) {
    const { text, isOfSite } = REPLIES[reply] ?? { text: `error ${reply}`, isOfSite: true };
    const message = `it could not connect to ${target.host}:${target.port}: ${text}`;
    throw proxyError(isOfSite ? PROXY_NOT_CONNECTED : PROXY_FAILED, message);
  }
  // The address that the proxy uses. It is not needed, but its bytes must be read.
  const [nameLength = 0] = type === NAME ? await reader.bytes(1) : [];
  await reader.bytes((ADDRESS_BYTES[type] ?? nameLength) + 2);
}

async function greet(socket: Socket, reader: SocketReader, { username, password }: Credentials): Promise<void> {
  const hasCredentials = username !== "" || password !== "";
  socket.write(Buffer.from(hasCredentials ? [VERSION, 2, NO_CREDENTIALS, PASSWORD] : [VERSION, 1, NO_CREDENTIALS]));
  const [version, method] = await reader.bytes(2);
  if (version !== VERSION) throw proxyError(PROXY_FAILED, "the answer is not SOCKS5");
  if (method === NO_CREDENTIALS) return;
  if (method !== PASSWORD || !hasCredentials) {
    throw proxyError(PROXY_FAILED, "it requires credentials; add a user name and password to its URL");
  }
  const [user, secret] = [Buffer.from(username), Buffer.from(password)];
  socket.write(
    Buffer.concat([Buffer.from([PASSWORD_VERSION, user.length]), user, Buffer.from([secret.length]), secret]),
  );
  const [, status] = await reader.bytes(2);
  if (status !== 0) throw proxyError(PROXY_FAILED, "it refused the user name and password");
}

function connectRequest({ host, port }: TunnelTarget): Buffer {
  const address = isIP(host) === 0 ? undefined : parseAddress(host);
  const name = Buffer.from(host);
  const to =
    address === undefined
      ? Buffer.concat([Buffer.from([NAME, name.length]), name])
      : Buffer.concat([Buffer.from([address.length === 4 ? 1 : 4]), address]);
  return Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), to, Buffer.from([port >> 8, port & 0xff])]);
}
