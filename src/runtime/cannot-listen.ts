/** Why nobody can be listened to at an address, with what to do about it. */
import { TrawlError } from "../errors.ts";

/** `taken`: what to do where somebody else listens there. `check`: the settings that say where. */
type Listening = { op: string; host: string; port: number; taken: string; check: string };

/** No such address here, none of that name, a port for the superuser alone. */
const OF_THE_ADDRESS = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EACCES", "EINVAL"]);

/** The same error where it is none of the address. */
export function cannotListen(cause: NodeJS.ErrnoException, { op, host, port, taken, check }: Listening): Error {
  const words = { op, detail: { host, port }, cause };
  if (cause.code === "EADDRINUSE") {
    return new TrawlError("ADDRESS_TAKEN", { ...words, message: `${host}:${port} is taken: ${taken}` });
  }
  if (!OF_THE_ADDRESS.has(cause.code ?? "")) return cause;
  const message = `cannot listen on ${host}:${port} (${cause.code}); check ${check}`;
  return new TrawlError("BAD_CONFIG", { ...words, message });
}
