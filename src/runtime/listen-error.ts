/** Converts errors of `listen` to errors with a fix. */
import { TrawlError } from "../errors.ts";

/** `taken`: the fix if the address is in use. `check`: the names of the address settings. */
type Listening = { op: string; host: string; port: number; taken: string; check: string };

/** The address or the name does not exist, or the port needs root. */
const ADDRESS_ERRORS = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EACCES", "EINVAL"]);

/** Returns `cause` unchanged if the address did not cause it. */
export function listenError(cause: NodeJS.ErrnoException, { op, host, port, taken, check }: Listening): Error {
  const fields = { op, detail: { host, port }, cause };
  if (cause.code === "EADDRINUSE") {
    return new TrawlError("ADDRESS_TAKEN", { ...fields, message: `${host}:${port} is in use: ${taken}` });
  }
  if (!ADDRESS_ERRORS.has(cause.code ?? "")) return cause;
  const message = `cannot listen on ${host}:${port} (${cause.code}); check ${check}`;
  return new TrawlError("BAD_CONFIG", { ...fields, message });
}
