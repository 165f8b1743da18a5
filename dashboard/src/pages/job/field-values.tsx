import { cut } from "../../ui/format.ts";
import { ScrapedLink, webUrl } from "../../ui/scraped.tsx";
import { wholeText } from "./cell-text.ts";

/** The rest of a longer value is only in the download. */
const VALUE_MAX = 20_000;
const URL_MAX = 2_000;

/** The fields of a record or the headers of a response, as a definition list. */
export function FieldValues({ fields }: { fields: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="values">
      {Object.entries(fields).map(([name, value]) => (
        <Value key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  const isLink = typeof value === "string" && value.length < URL_MAX && webUrl(value) !== undefined;
  return (
    <>
      <dt>
        <bdi dir="auto">{cut(name, 200)}</bdi>
      </dt>
      <dd>
        {isLink ? <ScrapedLink url={value} max={URL_MAX} /> : <bdi dir="auto">{cut(wholeText(value), VALUE_MAX)}</bdi>}
      </dd>
    </>
  );
}
