/** Asks for a key. The address stays as it is: who signs in is where they were. */
import { useState } from "preact/hooks";
import type { ApiError } from "../../src/client/api-error.ts";
import { useAction } from "./polled.ts";
import { signIn } from "./session.ts";
import { CheckField, TextField } from "./ui/field.tsx";
import { Problem } from "./ui/problem.tsx";

export function Login({ why }: { why: ApiError | undefined }) {
  const [key, setKey] = useState("");
  const [isToStay, setIsToStay] = useState(false);
  const entering = useAction(() => signIn(key.trim(), { isToStay }));
  const isIdle = !entering.isBusy && entering.error === undefined;
  return (
    <main class="login">
      <form
        class="login-form card"
        onSubmit={(event) => {
          event.preventDefault();
          void entering.run();
        }}
      >
        <h1>Sign in to Trawl</h1>
        <p class="quiet">
          This server asks for a key. An operator makes one with <code>trawl keys add</code>.
        </p>
        {isIdle && why !== undefined && <Problem error={why} />}
        <Problem error={entering.error} />
        <TextField
          label="Key"
          type="password"
          autocomplete="current-password"
          value={key}
          onInput={setKey}
          placeholder="trawl_…"
          isRequired
        />
        <CheckField label="Stay signed in on this browser" isChecked={isToStay} onChange={setIsToStay} />
        <button type="submit" class="primary" disabled={entering.isBusy || key.trim() === ""}>
          Sign in
        </button>
      </form>
    </main>
  );
}
