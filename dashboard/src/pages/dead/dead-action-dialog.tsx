/** Confirms a replay or a discard of dead letters: how many, how fast, and what happens. */
import { useState } from "preact/hooks";
import { Confirm } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { ScrapedText } from "../../ui/scraped.tsx";
import type { DeadActionResult } from "./dead-action-notice.tsx";
import { type DeadSelection, discard, replay } from "./dead-actions.ts";
import { letterText, replayText } from "./dead-filter.ts";

export type DeadAction = { verb: "replay" | "discard"; selection: DeadSelection };

type DeadActionProps = { action: DeadAction; onDone: (result: DeadActionResult) => void; onClose: () => void };

const DEFAULT_PER_SECOND = 10;

export function DeadActionDialog({ action, onDone, onClose }: DeadActionProps) {
  const { selection, verb } = action;
  return verb === "replay" ? (
    <ReplayDialog selection={selection} onDone={onDone} onClose={onClose} />
  ) : (
    <DiscardDialog selection={selection} onDone={onDone} onClose={onClose} />
  );
}

type SelectionProps = Omit<DeadActionProps, "action"> & { selection: DeadSelection };

function ReplayDialog({ selection, onDone, onClose }: SelectionProps) {
  const [rateText, setRateText] = useState(String(DEFAULT_PER_SECOND));
  const [limitText, setLimitText] = useState(String(selection.count));
  const perSecond = Number(rateText);
  const limit = Math.min(Math.floor(Number(limitText)), selection.count);
  const isRateValid = perSecond >= 0.001 && perSecond <= 100_000;
  const isLimitValid = limit >= 1;
  return (
    <Confirm
      title="Replay dead letters"
      verb={isLimitValid ? `Replay ${plural(limit, "dead letter")}` : "Replay"}
      onClose={onClose}
      act={async () => {
        if (!isRateValid) throw new Error("The rate must be a number from 0.001 to 100,000 per second.");
        if (!isLimitValid) throw new Error("The limit must be a number of at least 1.");
        const count = await replay(selection, { limit, perSecond });
        onDone({ verb: "replay", count, perSecond, at: Date.now() });
      }}
    >
      <p>
        <ScrapedText
          text={
            isRateValid && isLimitValid
              ? replayText(selectionText(selection, limit), limit, perSecond)
              : "Enter a rate and a limit."
          }
        />
      </p>
      <div class="dead-replay-fields">
        <TextField
          label="Rate per second"
          hint="How many URLs become due per second. The rate limit of each site still applies."
          type="number"
          value={rateText}
          onInput={setRateText}
        />
        {selection.tasks === undefined && (
          <TextField
            label="Limit"
            hint="The maximum number of dead letters to replay. To test, replay a few first."
            type="number"
            value={limitText}
            onInput={setLimitText}
          />
        )}
      </div>
      <p class="muted">The retry count starts at zero again. Jobs that have ended run again, except cancelled jobs.</p>
    </Confirm>
  );
}

function DiscardDialog({ selection, onDone, onClose }: SelectionProps) {
  return (
    <Confirm
      title="Discard dead letters"
      verb={`Discard ${plural(selection.count, "dead letter")}`}
      isDanger
      onClose={onClose}
      act={async () => onDone({ verb: "discard", count: await discard(selection), perSecond: 0, at: Date.now() })}
    >
      <p>
        This deletes <ScrapedText text={selectionText(selection, selection.count)} />. They can no longer be viewed or
        replayed. Their jobs still count them as failed.
      </p>
    </Confirm>
  );
}

function selectionText({ filter, tasks }: DeadSelection, count: number): string {
  return tasks === undefined ? letterText(count, filter) : plural(count, "selected dead letter");
}
