/** One dead letter: every try there was. */
import type { DeadOut } from "../../../../src/api/wire-fleet.ts";
import { hrefOf } from "../../router.ts";
import { may } from "../../session.ts";
import { DEAD_REASONS } from "../../ui/dead-reasons.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { absolute } from "../../ui/format.ts";
import { ScrapedLink, ScrapedWords } from "../../ui/scraped.tsx";
import type { Dealing } from "./deal-dialog.tsx";

type LetterProps = { letter: DeadOut; onClose: () => void; onDeal: (verb: Dealing["verb"]) => void };

export function LetterDialog({ letter, onClose, onDeal }: LetterProps) {
  const { url, taskId, jobId, site, reason, status, diedAt, history } = letter;
  return (
    <Dialog title="A dead letter" onClose={onClose} isWide>
      <dl class="facts">
        <dt>URL</dt>
        <dd class="dead-url">
          <ScrapedLink url={url} most={2_000} />
        </dd>
        <dt>Reason</dt>
        <dd>
          {reason}
          {status !== null && ` (${status})`}: {DEAD_REASONS[reason]}
        </dd>
        <dt>Site</dt>
        <dd>
          <ScrapedWords text={site} />
        </dd>
        <dt>Job</dt>
        <dd>
          <a href={hrefOf(["jobs", jobId])}>{jobId}</a>, task {taskId}
        </dd>
        <dt>Given up on</dt>
        <dd>{absolute(Date.parse(diedAt))}</dd>
      </dl>
      <section class="dead-history">
        <h3>Its tries</h3>
        <ol>
          {history.map(({ at, because, status: answered, detail }, nth) => (
            <li key={`${at} ${nth}`}>
              <time dateTime={at}>{absolute(Date.parse(at))}</time> {because}
              {answered !== null && ` (${answered})`}
              {detail !== null && (
                <>
                  : <ScrapedWords text={detail} most={2_000} />
                </>
              )}
            </li>
          ))}
        </ol>
      </section>
      <div class="dialog-buttons">
        <a class="button" href={hrefOf(["explain"], { q: taskId })}>
          How it went
        </a>
        {may("submit") && (
          <>
            <button type="button" onClick={() => onDeal("discard")}>
              Discard …
            </button>
            <button type="button" class="primary" onClick={() => onDeal("replay")}>
              Replay …
            </button>
          </>
        )}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
