/** The headers that a job or a request may set. */
import { z } from "zod";

/** Tabs and printable characters. Line breaks would inject headers. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that describe the connection or the framing. The HTTP client sets them. */
const HEADERS_OF_CONNECTION = new Set([
  ...["connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade"],
]);
const HEADER_NAME = /^[A-Za-z0-9-]+$/;

export const headersSchema = z
  .record(
    z.string().regex(HEADER_NAME),
    z.string().max(8000).regex(HEADER_VALUE, "contains characters that are not allowed in a header"),
    { error: ({ code }) => (code === "invalid_key" ? "is not a header name" : undefined) },
  )
  .superRefine((headers, context) => {
    for (const name of Object.keys(headers)) {
      if (!HEADERS_OF_CONNECTION.has(name.toLowerCase())) continue;
      const message = "is a connection header, which a job cannot set: remove it";
      context.addIssue({ code: "custom", path: [name], message });
    }
  });

export function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
