/** Why something waits, in the words of the server, and until when. */
import type { ExplanationOut } from "../../../../src/api/wire-fleet.ts";
import { cut, withTimes } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScrapedWords } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";

export function Reasons({
  explained,
  title = "How it stands, and why",
}: {
  explained: ExplanationOut;
  title?: string;
}) {
  const { about, reasons, until } = explained;
  return (
    <Card title={title}>
      <div class="card-body reasons-of">
        <p class="quiet">
          <ScrapedWords text={about} />
        </p>
        <ul class="reasons">
          {reasons.map((reason) => (
            <li key={cut(reason, 100)}>
              <ScrapedWords text={withTimes(reason)} most={2_000} />
            </li>
          ))}
        </ul>
        {until !== null && (
          <p>
            <Tip says="As far as can be told now: what has to pass before it may go on. A worker has to be free then.">
              May go on
            </Tip>{" "}
            {Date.parse(until) <= now.value ? "now" : <Ago at={until} />}
          </p>
        )}
      </div>
    </Card>
  );
}
