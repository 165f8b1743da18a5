/** Shown on the page of a job after its submission: URLs that were not accepted, and the webhook secret. */
import { CopyButton } from "../../ui/copy-button.tsx";
import { count, plural } from "../../ui/format.ts";
import { ScrapedText } from "../../ui/scraped.tsx";
import { type SubmitResult, submitResult } from "./submit-result.ts";

const REFUSED_SHOWN = 5;

export function SubmitNotice({ id }: { id: string }) {
  const result = submitResult.value;
  if (result?.id !== id) return null;
  const isAllAccepted = result.duplicates === 0 && result.refusedCount === 0;
  if (isAllAccepted && result.webhookSecret === null) return null;
  return (
    <div class="notice" role="status">
      <div class="notice-parts">
        {!isAllAccepted && <NotAccepted result={result} />}
        {result.webhookSecret !== null && <WebhookSecret secret={result.webhookSecret} />}
      </div>
      <button
        type="button"
        class="small"
        onClick={() => {
          submitResult.value = undefined;
        }}
      >
        Close
      </button>
    </div>
  );
}

function NotAccepted({ result: { given, accepted, duplicates, refused, refusedCount } }: { result: SubmitResult }) {
  const reasons = [
    duplicates > 0 && plural(duplicates, "duplicate"),
    refusedCount > 0 && `${count(refusedCount)} invalid`,
  ].filter((reason) => reason !== false);
  const hiddenCount = refusedCount - Math.min(refused.length, REFUSED_SHOWN);
  return (
    <>
      <p>
        <b>
          {count(accepted)} of {plural(given, "URL")} {accepted === 1 ? "was" : "were"} accepted.
        </b>{" "}
        Not accepted: {reasons.join(", ")}.
      </p>
      {refusedCount > 0 && (
        <ul>
          {refused.slice(0, REFUSED_SHOWN).map(({ index, url, reason }) => (
            <li key={index}>
              Line {count(index + 1)}, <ScrapedText text={url} />: {reason}
            </li>
          ))}
          {hiddenCount > 0 && refused.length > 0 && <li>and {count(hiddenCount)} more</li>}
        </ul>
      )}
    </>
  );
}

function WebhookSecret({ secret }: { secret: string }) {
  return (
    <>
      <p>
        <b>Copy the webhook secret now. It is not shown again.</b> Trawl signs the events of this job with it.
      </p>
      <pre class="secret">{secret}</pre>
      <p>
        <CopyButton text={secret} />
      </p>
    </>
  );
}
