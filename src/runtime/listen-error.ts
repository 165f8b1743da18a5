/** Converts errors of `listen` to errors with a fix. */
import { TrawlError } from "../errors.ts";

/** `taken`: the fix if the address is in use. `check`: the names of the address settings. */
type Listening = { op: string; host: string; port: number; taken: string; check: string };

/** Codes for an address or name that does not exist, and for a port that needs root. */
const ADDRESS_ERRORS = new Set(["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EACCES", "EINVAL"]);

/** The error to report for a failed `listen`. Returns `cause` unchanged if the address is not the reason. */
export function listenError(cause: NodeJS.ErrnoException, { op, host, port, taken, check }: Listening): Error {
  const fields = { op, detail: { host, port }, cause };
  if (cause.code === "EADDRINUSE") {
    return new TrawlError("ADDRESS_TAKEN", { ...fields, message: `${host}:${port} is in use: ${taken}` });
  }
  if (!ADDRESS_ERRORS.has(cause.code ?? "")) return cause;
  const message = `cannot listen on ${host}:${port} (${cause.code}); check ${check}`;
  return new TrawlError("BAD_CONFIG", { ...fields, message });
}
