/** On the page of a new job, what is not as its form had it: URLs that were not taken, and a secret that is told once. */
import { count, plural } from "../../ui/format.ts";
import { ScrapedWords } from "../../ui/scraped.tsx";
import { CopyButton } from "../keys/copy-button.tsx";
import { type Submitted, submitted } from "./submitted.ts";

/** So many say what is wrong. */
const SHOWN = 5;

export function SubmittedNote({ id }: { id: string }) {
  const told = submitted.value;
  if (told?.id !== id) return null;
  const isAsGiven = told.duplicates === 0 && told.refusedCount === 0;
  if (isAsGiven && told.webhookSecret === null) return null;
  return (
    <div class="told" role="status">
      <div class="told-parts">
        {!isAsGiven && <NotTaken told={told} />}
        {told.webhookSecret !== null && <Secret secret={told.webhookSecret} />}
      </div>
      <button
        type="button"
        class="small"
        onClick={() => {
          submitted.value = undefined;
        }}
      >
        Close
      </button>
    </div>
  );
}

function NotTaken({ told: { given, accepted, duplicates, refused, refusedCount } }: { told: Submitted }) {
  const less = [
    duplicates > 0 && `${count(duplicates)} came twice`,
    refusedCount > 0 && `${count(refusedCount)} cannot be fetched`,
  ].filter((words) => words !== false);
  const unsaid = refusedCount - Math.min(refused.length, SHOWN);
  return (
    <>
      <p>
        <b>
          {count(accepted)} of {plural(given, "URL")} {accepted === 1 ? "was" : "were"} taken:
        </b>{" "}
        {less.join(", ")}.
      </p>
      {refusedCount > 0 && (
        <ul>
          {refused.slice(0, SHOWN).map(({ index, url, reason }) => (
            <li key={index}>
              Line {count(index + 1)}, <ScrapedWords text={url} />: {reason}
            </li>
          ))}
          {unsaid > 0 && refused.length > 0 && <li>and {count(unsaid)} more</li>}
        </ul>
      )}
    </>
  );
}

function Secret({ secret }: { secret: string }) {
  return (
    <>
      <p>
        <b>Copy the secret of its webhook now: it is shown this once.</b> Events are signed with it.
      </p>
      <pre class="secret">{secret}</pre>
      <p>
        <CopyButton text={secret} />
      </p>
    </>
  );
}
