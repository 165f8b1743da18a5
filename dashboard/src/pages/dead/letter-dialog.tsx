/** One dead letter with all its attempts. */
import type { DeadOut } from "../../../../src/client/wire-types.ts";
import { hrefOf } from "../../router.ts";
import { may } from "../../session.ts";
import { DEAD_REASONS, reasonText } from "../../ui/dead-reasons.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { absolute } from "../../ui/format.ts";
import { ScrapedLink, ScrapedText } from "../../ui/scraped.tsx";
import type { DeadAction } from "./dead-action-dialog.tsx";

type LetterProps = { letter: DeadOut; onClose: () => void; onAction: (verb: DeadAction["verb"]) => void };

export function LetterDialog({ letter, onClose, onAction }: LetterProps) {
  const { url, taskId, jobId, site, reason, status, cause, diedAt, history } = letter;
  return (
    <Dialog title="Dead letter" onClose={onClose} isWide>
      <dl class="facts">
        <dt>URL</dt>
        <dd class="dead-url">
          <ScrapedLink url={url} max={2_000} />
        </dd>
        <dt>Reason</dt>
        <dd>
          {reasonText(reason, status, cause)}: {DEAD_REASONS[reason]}
        </dd>
        <dt>Site</dt>
        <dd>
          <ScrapedText text={site} />
        </dd>
        <dt>Job</dt>
        <dd>
          <a href={hrefOf(["jobs", jobId])}>{jobId}</a>, task {taskId}
        </dd>
        <dt>Failed</dt>
        <dd>{absolute(Date.parse(diedAt))}</dd>
      </dl>
      <section class="dead-history">
        <h3>Attempts</h3>
        <ol>
          {history.map(({ at, because, status: attemptStatus, detail }, nth) => (
            <li key={`${at} ${nth}`}>
              <time dateTime={at}>{absolute(Date.parse(at))}</time> {because}
              {attemptStatus !== null && ` (${attemptStatus})`}
              {detail !== null && (
                <>
                  : <ScrapedText text={detail} max={2_000} />
                </>
              )}
            </li>
          ))}
        </ol>
      </section>
      <div class="dialog-buttons">
        <a class="button" href={hrefOf(["explain"], { q: taskId })}>
          Timeline
        </a>
        {may("submit") && (
          <>
            <button type="button" onClick={() => onAction("discard")}>
              Discard …
            </button>
            <button type="button" class="primary" onClick={() => onAction("replay")}>
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
