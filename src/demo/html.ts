/** HTML template literals: values are escaped unless they are markup. */
export type Markup = { readonly markup: string };

type Part = string | number | Markup | readonly Markup[];

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return { markup: strings.reduce((text, string, index) => `${text}${render(parts[index - 1] ?? "")}${string}`) };
}

/** Structured data in a `<script>` element. Text in it cannot close the element. */
export function jsonScript(value: unknown): Markup {
  const json = JSON.stringify(value, undefined, 2).replaceAll("<", "\\u003c");
  return { markup: `<script type="application/ld+json">\n${json}\n</script>` };
}

function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

function render(part: Part): string {
  if (typeof part === "string") return escapeText(part);
  if (typeof part === "number") return String(part);
  if ("markup" in part) return part.markup;
  return part.map(({ markup }) => markup).join("\n");
}
