/** The current status of a URL, site or job. The server writes the text. */
import type { ExplanationOut } from "../../../../src/client/wire-types.ts";
import { cut, localizeTimes } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScrapedText } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";

export function Reasons({ explained: { about, reasons, until } }: { explained: ExplanationOut }) {
  return (
    <Card title="Current status">
      <div class="card-body explanation">
        <p class="muted">
          <ScrapedText text={about} />
        </p>
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={cut(reason, 100)}>
              <ScrapedText text={localizeTimes(reason)} max={2_000} />
            </li>
          ))}
        </ul>
        {until !== null && (
          <p>
            <Tip text="The earliest time for the next request, as far as is known now. The request also needs a free worker.">
              Next request:
            </Tip>{" "}
            {Date.parse(until) <= now.value ? "now" : <Ago at={until} />}
          </p>
        )}
      </div>
    </Card>
  );
}
