/** How a session logs in. The worker reads secrets; the job only contains references to them. */
import { CheckField, SelectField, TextField } from "../../../ui/field.tsx";
import { loginText } from "../../job/job-options-text.ts";
import { withoutUndefined } from "../job-draft.ts";
import type { Pairs } from "./pairs.ts";
import { ClosedSection, type SectionProps } from "./section.tsx";
import { JsonField, PairsField, WordsField } from "./typed-fields.tsx";

type Login = NonNullable<SectionProps["job"]["login"]>;
type LoginProps = { login: Login; change: (changes: Partial<Login>) => void; problems: SectionProps["problems"] };

const SECRETS_HINT =
  "One per line. Write passwords as env:NAME: the worker reads them from its environment, and they are not stored.";
const BODY_KINDS = [
  { value: "form", label: "A form" },
  { value: "json", label: "JSON" },
];

export function LoginSection({ job, set, problems }: SectionProps) {
  const { login } = job;
  const change = (changes: Partial<Login>) => login && set({ login: withoutUndefined({ ...login, ...changes }) });
  return (
    <ClosedSection title="Login" text={loginText(job)} keys={["login"]} problems={problems}>
      <CheckField
        label="Log in before the first page"
        isChecked={login !== undefined}
        onChange={(isOn) => set({ login: isOn ? { url: "", form: {} } : undefined })}
      />
      {login !== undefined && (
        <>
          <RequestFields login={login} change={change} problems={problems} />
          <CheckFields login={login} change={change} problems={problems} />
          <ExpiredFields login={login} change={change} problems={problems} />
        </>
      )}
    </ClosedSection>
  );
}

function RequestFields({ login, change, problems }: LoginProps) {
  const isJson = login.json !== undefined;
  return (
    <>
      <div class="form-grid">
        <TextField
          label="Login page"
          placeholder="https://shop.example/login"
          value={login.url}
          onInput={(url) => change({ url })}
          problem={problems.at("login.url")}
        />
        <TextField
          label="Send the form to"
          placeholder="the login page"
          hint="The URL of the form, if it is not the login page."
          value={login.action ?? ""}
          onInput={(action) => change({ action: textOf(action) })}
          problem={problems.at("login.action")}
        />
        <SelectField
          label="Send the fields as"
          value={isJson ? "json" : "form"}
          onChange={(kind) => change(kind === "json" ? asJson(login) : asForm(login))}
          options={BODY_KINDS}
        />
      </div>
      {isJson ? (
        <JsonField
          label="Login fields"
          placeholder={'{ "user": "env:SHOP_USER", "password": "env:SHOP_PASSWORD" }'}
          hint="A JSON object. Write passwords as env:NAME: the worker reads them, and they are not stored."
          value={login.json}
          onValue={(json) => change({ json: json as Login["json"] })}
          problem={problems.at("login.json")}
        />
      ) : (
        <PairsField
          label="Login fields"
          placeholder={"user: env:SHOP_USER\npassword: env:SHOP_PASSWORD"}
          hint={SECRETS_HINT}
          pairs={login.form}
          onPairs={(form) => change({ form: { ...form } })}
          problem={problems.at("login.form")}
        />
      )}
      <PairsField
        label="Fields from the login page"
        placeholder="csrf: input[name=csrf]@value"
        hint="Name and selector, one per line. For values that the site puts into its form, such as CSRF tokens."
        pairs={login.fields}
        onPairs={(fields) => change({ fields: nonEmpty(fields) })}
        problem={problems.at("login.fields")}
      />
    </>
  );
}

function CheckFields({ login, change, problems }: LoginProps) {
  const { check = {} } = login;
  const set = (changes: NonNullable<Login["check"]>) =>
    change({ check: nonEmpty(withoutUndefined({ ...check, ...changes })) });
  return (
    <fieldset class="form-group">
      <legend>The login was successful if the result has</legend>
      <div class="form-grid">
        <TextField
          label="Cookie"
          placeholder="sid"
          value={check.cookie ?? ""}
          onInput={(cookie) => set({ cookie: textOf(cookie) })}
          problem={problems.at("login.check.cookie")}
        />
        <TextField
          label="Element"
          placeholder=".account"
          value={check.selector ?? ""}
          onInput={(selector) => set({ selector: textOf(selector) })}
          problem={problems.at("login.check.selector")}
        />
        <TextField
          label="URL"
          placeholder="**/account"
          value={check.url ?? ""}
          onInput={(url) => set({ url: textOf(url) })}
          problem={problems.at("login.check.url")}
        />
      </div>
    </fieldset>
  );
}

function ExpiredFields({ login, change, problems }: LoginProps) {
  const { expired = {} } = login;
  const set = (changes: NonNullable<Login["expired"]>) =>
    change({ expired: nonEmpty(withoutUndefined({ ...expired, ...changes })) });
  return (
    <fieldset class="form-group">
      <legend>The session has expired if a response has</legend>
      <div class="form-grid">
        <WordsField
          label="Status"
          placeholder="401"
          words={expired.status?.map(String)}
          // A text that is not a number stays a text, so that the server reports it.
          onWords={(words) =>
            set({ status: words?.map((word) => (/^\d+$/.test(word) ? Number(word) : word)) as number[] })
          }
          problem={problems.at("login.expired.status")}
        />
        <TextField
          label="Redirect to"
          placeholder="**/login*"
          value={expired.redirect ?? ""}
          onInput={(redirect) => set({ redirect: textOf(redirect) })}
          problem={problems.at("login.expired.redirect")}
        />
        <TextField
          label="Expired element"
          placeholder="form.login"
          value={expired.selector ?? ""}
          onInput={(selector) => set({ selector: textOf(selector) })}
          problem={problems.at("login.expired.selector")}
        />
      </div>
    </fieldset>
  );
}

function asJson({ form = {} }: Login): Partial<Login> {
  return { form: undefined, json: form };
}

function asForm({ json = {} }: Login): Partial<Login> {
  const fields = Object.entries(typeof json === "object" ? json : {});
  const texts: Pairs = Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  return { json: undefined, form: { ...texts } };
}

function textOf(typed: string): string | undefined {
  return typed === "" ? undefined : typed;
}

function nonEmpty<T extends object>(part: T): T | undefined {
  return Object.keys(part).length === 0 ? undefined : part;
}
