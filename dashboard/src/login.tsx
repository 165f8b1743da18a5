/** The sign-in form. The route does not change, so the user continues where they were. */
import { useState } from "preact/hooks";
import type { ApiError } from "../../src/client/api-error.ts";
import { useAction } from "./polled.ts";
import { signIn } from "./session.ts";
import { CheckField, TextField } from "./ui/field.tsx";
import { Problem } from "./ui/problem.tsx";

export function Login({ why }: { why: ApiError | undefined }) {
  const [key, setKey] = useState("");
  const [isRemembered, setIsRemembered] = useState(false);
  const signingIn = useAction(() => signIn(key.trim(), { isRemembered }));
  const isIdle = !signingIn.isBusy && signingIn.error === undefined;
  return (
    <main class="login">
      <form
        class="login-form card"
        onSubmit={(event) => {
          event.preventDefault();
          void signingIn.run();
        }}
      >
        <h1>Sign in to Trawl</h1>
        <p class="muted">
          This server requires an API key. An operator creates one with <code>trawl keys add</code>.
        </p>
        {isIdle && why !== undefined && <Problem error={why} />}
        <Problem error={signingIn.error} />
        <TextField
          label="Key"
          type="password"
          autocomplete="current-password"
          value={key}
          onInput={setKey}
          placeholder="trawl_…"
          isRequired
        />
        <CheckField label="Stay signed in on this browser" isChecked={isRemembered} onChange={setIsRemembered} />
        <button type="submit" class="primary" disabled={signingIn.isBusy || key.trim() === ""}>
          Sign in
        </button>
      </form>
    </main>
  );
}
