import { cut } from "../../ui/format.ts";
import { ScrapedLink, webUrl } from "../../ui/scraped.tsx";
import { wholeText } from "./cell-text.ts";

/** More of one value is not for reading, but for a download. */
const VALUE_MOST = 20_000;
const URL_MOST = 2_000;

/** A record, field by field. */
export function Values({ fields }: { fields: Readonly<Record<string, unknown>> }) {
  return (
    <dl class="values">
      {Object.entries(fields).map(([name, value]) => (
        <Value key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  const isLink = typeof value === "string" && value.length < URL_MOST && webUrl(value) !== undefined;
  return (
    <>
      <dt>
        <bdi dir="auto">{cut(name, 200)}</bdi>
      </dt>
      <dd>
        {isLink ? (
          <ScrapedLink url={value} most={URL_MOST} />
        ) : (
          <bdi dir="auto">{cut(wholeText(value), VALUE_MOST)}</bdi>
        )}
      </dd>
    </>
  );
}
