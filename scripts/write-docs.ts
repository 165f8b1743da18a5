/** `npm run docs`: writes the generated pages of docs/. */
import { writeFileSync } from "node:fs";
import { renderDocs } from "./render-docs.ts";

for (const [name, text] of Object.entries(renderDocs())) {
  writeFileSync(new URL(`../docs/${name}`, import.meta.url), text);
}
