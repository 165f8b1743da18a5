/** The kind of a body. `xhtml` and `xml` differ from `html` in how tags end. */
export type PageKind = "html" | "xhtml" | "xml" | "text" | "json" | "binary";
export type MarkupKind = Extract<PageKind, "html" | "xhtml" | "xml">;

/** Decides by the content type. Inspects the body only if there is no content type. */
export function pageKind(contentType: string | undefined, body: string): PageKind {
  const type = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === undefined || type === "") return sniffedKind(body);
  if (type === "text/html") return "html";
  if (type === "application/xhtml+xml") return "xhtml";
  if (type === "application/json" || type === "text/json" || type.endsWith("+json")) return "json";
  if (type === "application/xml" || type === "text/xml") return "xml";
  if (type.endsWith("+xml") && type.startsWith("application/")) return "xml";
  return type.startsWith("text/") ? "text" : "binary";
}

export function isMarkup(kind: PageKind): kind is MarkupKind {
  return kind === "html" || kind === "xhtml" || kind === "xml";
}

/** Opening tags by which browsers detect HTML without a content type. */
const HTML_START =
  /^\ufeff?\s*<(?:!--|(?:!doctype html|html|head|body|script|style|title|iframe|table|font|div|br|h1|a|b|p)[\s/>])/i;
const XML_START = /^\ufeff?\s*<\?xml\s/i;
const JSON_START = /^\ufeff?\s*(?:\{\s*["}]|\[\s*["{[\d\]])/;
/** Control characters that do not occur in text. U+FFFD is the result of decoding invalid bytes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters distinguish binary from text
const NOT_TEXT = /[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/;

function sniffedKind(body: string): PageKind {
  const start = body.slice(0, 1024);
  if (HTML_START.test(start)) return "html";
  if (XML_START.test(start)) return /<html[\s>]/i.test(start) ? "xhtml" : "xml";
  if (JSON_START.test(start)) return "json";
  return NOT_TEXT.test(start) ? "binary" : "text";
}
