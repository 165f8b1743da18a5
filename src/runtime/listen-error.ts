/** Errors of listening on an address, with the fix. */
import { TrawlError } from "../errors.ts";

/** `taken`: what to do if the address is in use. `check`: the settings of the address. */
type Listening = { op: string; host: string; port: number; taken: string; check: string };

/** The address or the name does not exist, or the port needs root. */
const OF_THE_ADDRESS = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EACCES", "EINVAL"]);

/** Returns `cause` if the address is not the problem. */
export function listenError(cause: NodeJS.ErrnoException, { op, host, port, taken, check }: Listening): Error {
  const words = { op, detail: { host, port }, cause };
  if (cause.code === "EADDRINUSE") {
    return new TrawlError("ADDRESS_TAKEN", { ...words, message: `${host}:${port} is taken: ${taken}` });
  }
  if (!OF_THE_ADDRESS.has(cause.code ?? "")) return cause;
  const message = `cannot listen on ${host}:${port} (${cause.code}); check ${check}`;
  return new TrawlError("BAD_CONFIG", { ...words, message });
}
