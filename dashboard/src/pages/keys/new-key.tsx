/** Makes a key; its secret is shown this once. */
import { useState } from "preact/hooks";
import type { MadeKey } from "../../../../src/client/client.ts";
import { useAction } from "../../polled.ts";
import { api, signIn } from "../../session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { CopyButton } from "./copy-button.tsx";
import { draftOf, firstDraft, type KeySketch } from "./key-sketch.ts";
import { type KeyScope, SCOPE_WORDS } from "./key-words.ts";

type NewKeyProps = {
  /** It closes a server that was open. */
  isFirst: boolean;
  onMade: () => void;
  onClose: () => void;
};

export function NewKeyDialog({ isFirst, onMade, onClose }: NewKeyProps) {
  const [made, setMade] = useState<MadeKey | undefined>(undefined);
  return (
    <Dialog title={made === undefined ? "New key" : "The key is made"} onClose={onClose}>
      {made === undefined ? (
        <KeyForm
          isFirst={isFirst}
          onMade={(key) => {
            setMade(key);
            onMade();
          }}
          onLeave={onClose}
        />
      ) : (
        <Secret made={made} onClose={onClose} />
      )}
    </Dialog>
  );
}

type FormProps = { isFirst: boolean; onMade: (made: MadeKey) => void; onLeave: () => void };

function KeyForm({ isFirst, onMade, onLeave }: FormProps) {
  const [sketch, setSketch] = useState(() => firstDraft(isFirst));
  const set = (changes: Partial<KeySketch>) => setSketch((before) => ({ ...before, ...changes }));
  const isLockedOut = isFirst && !sketch.scopes.includes("admin");
  const making = useAction(async () => {
    const made = await api().keys.add(draftOf(sketch));
    // From now on nobody is let in without one: who has made it goes on with it, and so gets to see it.
    if (isFirst) await signIn(made.key, { isToStay: false });
    onMade(made);
  });
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        void making.run();
      }}
    >
      {isFirst && (
        <p>It is the first: from now on the server asks everybody for a key, you as well. It needs the scope admin.</p>
      )}
      <TextField
        label="Name"
        hint="Who or what uses it: it is how you find it again."
        value={sketch.name}
        onInput={(name) => set({ name })}
        isRequired
      />
      <fieldset class="key-scopes">
        <legend class="field-label">Scopes</legend>
        {(Object.keys(SCOPE_WORDS) as KeyScope[]).map((scope) => (
          <div key={scope}>
            <CheckField
              label={scope}
              isChecked={sketch.scopes.includes(scope)}
              onChange={(isChecked) => set({ scopes: withScope(sketch.scopes, scope, isChecked) })}
            />
            <p class="field-hint">{SCOPE_WORDS[scope]}</p>
          </div>
        ))}
      </fieldset>
      <TextField
        label="Tenant"
        hint="Whose jobs it sees, and no others. Empty: everybody's."
        value={sketch.tenant}
        onInput={(tenant) => set({ tenant })}
      />
      <details>
        <summary>Expiry and quotas</summary>
        <div class="key-more">
          <TextField
            label="Expires in days"
            hint="Empty: never."
            type="number"
            value={sketch.days}
            onInput={(days) => set({ days })}
          />
          <TextField
            label="URLs waiting"
            hint="At most; past it, no more are taken."
            type="number"
            value={sketch.pending}
            onInput={(pending) => set({ pending })}
          />
          <TextField
            label="URLs a second"
            hint="On average; ten seconds' worth may come at once."
            type="number"
            value={sketch.urlsPerSecond}
            onInput={(urlsPerSecond) => set({ urlsPerSecond })}
          />
          <TextField
            label="Jobs under way"
            hint="That have not ended."
            type="number"
            value={sketch.jobs}
            onInput={(jobs) => set({ jobs })}
          />
        </div>
      </details>
      <Problem error={making.error} />
      <div class="dialog-buttons">
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
        <button type="submit" class="primary" disabled={making.isBusy || sketch.scopes.length === 0 || isLockedOut}>
          Make the key
        </button>
      </div>
    </form>
  );
}

function Secret({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  return (
    <>
      <p>
        <b>Copy it now: it is shown this once.</b> The server keeps a hash of it and cannot show it again.
      </p>
      <pre class="secret">{made.key}</pre>
      <div class="dialog-buttons">
        <CopyButton text={made.key} />
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </>
  );
}

function withScope(scopes: readonly KeyScope[], scope: KeyScope, isChecked: boolean): KeyScope[] {
  const others = scopes.filter((one) => one !== scope);
  return isChecked ? [...others, scope] : others;
}
