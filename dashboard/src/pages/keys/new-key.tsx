/** Creates a key. The secret is shown only once. */
import { useState } from "preact/hooks";
import type { MadeKey } from "../../../../src/client/client.ts";
import { useAction } from "../../polled.ts";
import { api, type KeyScope, signIn } from "../../session.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { initialKeyDraft, type KeyDraft, newKeyOf } from "./key-draft.ts";
import { SCOPE_TEXT } from "./key-text.ts";

type NewKeyProps = {
  /** The server has required no key so far. */
  isFirst: boolean;
  onCreated: () => void;
  onClose: () => void;
};

export function NewKeyDialog({ isFirst, onCreated, onClose }: NewKeyProps) {
  const [created, setCreated] = useState<MadeKey | undefined>(undefined);
  return (
    <Dialog title={created === undefined ? "New key" : "Key created"} onClose={onClose}>
      {created === undefined ? (
        <KeyForm
          isFirst={isFirst}
          onCreated={(key) => {
            setCreated(key);
            onCreated();
          }}
          onCancel={onClose}
        />
      ) : (
        <KeySecret created={created} onClose={onClose} />
      )}
    </Dialog>
  );
}

type KeyFormProps = { isFirst: boolean; onCreated: (created: MadeKey) => void; onCancel: () => void };

function KeyForm({ isFirst, onCreated, onCancel }: KeyFormProps) {
  const [draft, setDraft] = useState(() => initialKeyDraft(isFirst));
  const set = (changes: Partial<KeyDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const isLockedOut = isFirst && !draft.scopes.includes("admin");
  const creating = useAction(async () => {
    const created = await api().keys.add(newKeyOf(draft));
    // From now on every request needs a key: sign in with the new one, so that this dialog can show it.
    if (isFirst) await signIn(created.key, { isRemembered: false });
    onCreated(created);
  });
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        void creating.run();
      }}
    >
      {isFirst && <p>The first key must have the scope admin. As soon as it exists, every request needs a key.</p>}
      <TextField
        label="Name"
        hint="The person or program that uses the key."
        value={draft.name}
        onInput={(name) => set({ name })}
        isRequired
      />
      <fieldset class="key-scopes">
        <legend class="field-label">Scopes</legend>
        {(Object.keys(SCOPE_TEXT) as KeyScope[]).map((scope) => (
          <div key={scope}>
            <CheckField
              label={scope}
              isChecked={draft.scopes.includes(scope)}
              onChange={(isChecked) => set({ scopes: withScope(draft.scopes, scope, isChecked) })}
            />
            <p class="field-hint">{SCOPE_TEXT[scope]}</p>
          </div>
        ))}
      </fieldset>
      <TextField
        label="Tenant"
        hint="The key has access only to the jobs of this tenant. Leave empty for access to all jobs."
        value={draft.tenant}
        onInput={(tenant) => set({ tenant })}
      />
      <details>
        <summary>Expiry and quotas</summary>
        <div class="key-more">
          <TextField
            label="Expires in days"
            hint="Leave empty for a key that does not expire."
            type="number"
            value={draft.days}
            onInput={(days) => set({ days })}
          />
          <TextField
            label="Waiting URLs"
            hint="The maximum number of waiting URLs. Above it, new URLs are refused."
            type="number"
            value={draft.pending}
            onInput={(pending) => set({ pending })}
          />
          <TextField
            label="URLs per second"
            hint="The average rate. A burst may contain ten times this number of URLs."
            type="number"
            value={draft.urlsPerSecond}
            onInput={(urlsPerSecond) => set({ urlsPerSecond })}
          />
          <TextField
            label="Active jobs"
            hint="The maximum number of jobs that have not ended."
            type="number"
            value={draft.jobs}
            onInput={(jobs) => set({ jobs })}
          />
        </div>
      </details>
      <Problem error={creating.error} />
      <div class="dialog-buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={creating.isBusy || draft.scopes.length === 0 || isLockedOut}>
          Create key
        </button>
      </div>
    </form>
  );
}

function KeySecret({ created, onClose }: { created: MadeKey; onClose: () => void }) {
  return (
    <>
      <p>
        <b>Copy the key now. It is not shown again.</b> The server stores only a hash of it.
      </p>
      <pre class="secret">{created.key}</pre>
      <div class="dialog-buttons">
        <CopyButton text={created.key} />
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </>
  );
}

function withScope(scopes: readonly KeyScope[], scope: KeyScope, isChecked: boolean): KeyScope[] {
  const others = scopes.filter((one) => one !== scope);
  return isChecked ? [...others, scope] : others;
}
