/** Before letters are replayed or discarded: how many, how fast, and what that means in words. */
import { useState } from "preact/hooks";
import { Confirm } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { ScrapedWords } from "../../ui/scraped.tsx";
import { type Chosen, discard, replay } from "./deal-with.ts";
import type { Dealt } from "./dealt-note.tsx";
import { letterWords, replayWords } from "./which.ts";

export type Dealing = { verb: "replay" | "discard"; chosen: Chosen };

type DealProps = { dealing: Dealing; onDone: (dealt: Dealt) => void; onClose: () => void };

const USUAL_PER_SECOND = 10;

export function DealDialog({ dealing, onDone, onClose }: DealProps) {
  const { chosen, verb } = dealing;
  return verb === "replay" ? (
    <ReplayDialog chosen={chosen} onDone={onDone} onClose={onClose} />
  ) : (
    <DiscardDialog chosen={chosen} onDone={onDone} onClose={onClose} />
  );
}

type OneProps = Omit<DealProps, "dealing"> & { chosen: Chosen };

function ReplayDialog({ chosen, onDone, onClose }: OneProps) {
  const [pace, setPace] = useState(String(USUAL_PER_SECOND));
  const [most, setMost] = useState(String(chosen.count));
  const perSecond = Number(pace);
  const limit = Math.min(Math.floor(Number(most)), chosen.count);
  const isPace = perSecond >= 0.001 && perSecond <= 100_000;
  const isMost = limit >= 1;
  return (
    <Confirm
      title="Replay dead letters"
      verb={isMost ? `Replay ${plural(limit, "letter")}` : "Replay"}
      onClose={onClose}
      act={async () => {
        if (!isPace) throw new Error("How many a second takes a number from 0.001 to 100,000.");
        if (!isMost) throw new Error("How many takes a number from 1 on.");
        const count = await replay(chosen, { limit, perSecond });
        onDone({ verb: "replay", count, perSecond, at: Date.now() });
      }}
    >
      <p>
        <ScrapedWords
          text={
            isPace && isMost ? replayWords(wordsOf(chosen, limit), limit, perSecond) : "Say how many, and how fast."
          }
        />
      </p>
      <div class="dead-pace">
        <TextField
          label="How many a second"
          hint="How fast they become due. Sites get no more than their rate, however many are due."
          type="number"
          value={pace}
          onInput={setPace}
        />
        {chosen.tasks === undefined && (
          <TextField
            label="How many at most"
            hint="The oldest first. Try a few before all of them."
            type="number"
            value={most}
            onInput={setMost}
          />
        )}
      </div>
      <p class="quiet">
        They are tried as if for the first time. Jobs that have ended run again; cancelled ones do not.
      </p>
    </Confirm>
  );
}

function DiscardDialog({ chosen, onDone, onClose }: OneProps) {
  return (
    <Confirm
      title="Discard dead letters"
      verb={`Discard ${plural(chosen.count, "letter")}`}
      isDanger
      onClose={onClose}
      act={async () => onDone({ verb: "discard", count: await discard(chosen), perSecond: 0, at: Date.now() })}
    >
      <p>
        Forgets <ScrapedWords text={wordsOf(chosen, chosen.count)} />, for good: nobody can look at them or replay them
        afterwards. Their jobs still count them as given up on.
      </p>
    </Confirm>
  );
}

function wordsOf({ filter, tasks }: Chosen, count: number): string {
  return tasks === undefined ? letterWords(count, filter) : `${plural(count, "letter")} that you picked`;
}
