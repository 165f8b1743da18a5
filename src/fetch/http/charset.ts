/**
 * Decodes bytes as browsers do. The charset is that of the byte order mark, else of the Content-Type header, else of
 * the declaration in the page, else UTF-8 if the bytes are valid UTF-8, else windows-1252. JSON cannot contain such a
 * declaration: without a byte order mark and a charset in the header, it is UTF-8 (RFC 8259, 8.1). Never throws.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { TextDecoder } from "node:util";
import { ResultType, Sniffer } from "encoding-sniffer/sniffer";
import iconv from "iconv-lite";

type DecodedText = {
  text: string;
  /** The name from the Encoding Standard, in lower case. */
  charset: string;
};

export function decodeBody(body: Buffer, contentType: string | undefined): DecodedText {
  const [first, second, third] = body;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { text: body.toString("utf8", 3), charset: "utf-8" };
  if (first === 0xff && second === 0xfe) return { text: body.toString("utf16le", 2), charset: "utf-16le" };
  if (first === 0xfe && second === 0xff) return decodeAs(body, "utf-16be") ?? decodeUndeclared(body);
  const declared = decodeAs(body, declaredCharset(contentType));
  if (declared !== undefined) return declared;
  if (isJson(contentType)) return { text: body.toString("utf8"), charset: "utf-8" };
  return decodeAs(body, sniffedCharset(body, EARLY_BYTES)) ?? decodeUndeclared(body);
}

/** JSON, types such as `application/ld+json`, and JSON lines. */
const JSON_TYPE = /^\s*[^;/]+\/(?:[^;]*\+json|json|(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|json-seq))\s*(?:;|$)/i;

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType);
}

const CHARSET_PARAMETER = /charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))/i;

/**
 * The HTML standard requires the declaration within the first 1024 bytes. Trawl searches further if there is no other
 * hint.
 */
const EARLY_BYTES = 1024;
const LATE_BYTES = 65_536;

/** Encodings of iconv-lite that are not charsets. */
const NOT_CHARSETS: ReadonlySet<string> = new Set(["hex", "base64", "binary", "internal"]);

function declaredCharset(contentType: string | undefined): string | undefined {
  if (contentType === undefined) return undefined;
  const [, double, single, bare] = CHARSET_PARAMETER.exec(contentType) ?? [];
  return (double ?? single ?? bare)?.trim().toLowerCase();
}

function sniffedCharset(body: Buffer, maxBytes: number): string | undefined {
  const sniffer = new Sniffer({ maxBytes });
  sniffer.write(body.subarray(0, maxBytes));
  return sniffer.resultType === ResultType.DEFAULT ? undefined : sniffer.encoding.toLowerCase();
}

/** Undefined if the label is unknown. */
function decodeAs(body: Buffer, label: string | undefined): DecodedText | undefined {
  if (label === undefined || label === "") return undefined;
  if (label === "utf-8" || label === "utf8") return { text: body.toString("utf8"), charset: "utf-8" };
  const decoder = findDecoder(label);
  // Node 20 decodes windows-1252, and its many labels such as iso-8859-1, as Latin-1.
  if (decoder?.encoding === "windows-1252") return { text: decodeWindows1252(body), charset: "windows-1252" };
  if (decoder !== undefined) return { text: decoder.decode(body), charset: decoder.encoding };
  if (NOT_CHARSETS.has(label) || !iconv.encodingExists(label)) return undefined;
  return { text: iconv.decode(body, label), charset: label };
}

function findDecoder(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    // Thrown for an unknown label. There is no other way to check a label.
    return undefined;
  }
}

function decodeUndeclared(body: Buffer): DecodedText {
  if (!isAscii(body) && isUtf8(body)) return { text: body.toString("utf8"), charset: "utf-8" };
  const late = body.length > EARLY_BYTES && body.includes("charset") ? sniffedCharset(body, LATE_BYTES) : undefined;
  return decodeAs(body, late) ?? { text: decodeWindows1252(body), charset: "windows-1252" };
}

/** The characters of windows-1252 at 0x80 to 0x9f, which are control characters in Latin-1. */
const WINDOWS_1252 = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function decodeWindows1252(body: Buffer): string {
  return body
    .toString("latin1")
    .replace(/[\x80-\x9f]/g, (control) => WINDOWS_1252.charAt(control.charCodeAt(0) - 0x80));
}
