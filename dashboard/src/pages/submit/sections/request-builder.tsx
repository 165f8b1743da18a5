/** Adds a request with a method, headers and a body to the start URLs, where it is one line of JSON. */
import { useState } from "preact/hooks";
import type { JobInput } from "../../../../../src/client/client.ts";
import { SelectField, TextField } from "../../../ui/field.tsx";
import { bodyProblem, entryOf, NO_REQUEST, type RequestDraft } from "./request-draft.ts";
import { PairsField, TextArea } from "./typed-fields.tsx";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((name) => ({
  value: name,
  label: name,
}));
const BODY_KINDS = [
  { value: "none", label: "None" },
  { value: "json", label: "JSON" },
  { value: "form", label: "Form fields" },
  { value: "body", label: "Text" },
];
const BODIES = {
  json: { placeholder: '{ "page": 1 }', hint: "Sent as application/json." },
  form: { placeholder: "q: mug\nsort: price", hint: "One field per line. Sent as a form." },
  body: { placeholder: "", hint: "Sent as text/plain, unless the headers contain a content-type." },
};

type UrlEntry = NonNullable<JobInput["urls"]>[number];

export function RequestBuilder({ onEntry }: { onEntry: (entry: UrlEntry) => void }) {
  const [draft, setDraft] = useState(NO_REQUEST);
  const [added, setAdded] = useState(0);
  const set = (changes: Partial<RequestDraft>) => setDraft({ ...draft, ...changes });
  const problem = bodyProblem(draft);
  const canAdd = draft.url.trim() !== "" && problem === undefined;
  const add = () => {
    if (!canAdd) return;
    onEntry(entryOf(draft));
    setDraft(NO_REQUEST);
    setAdded(added + 1);
  };
  return (
    <details class="section">
      <summary>
        <span class="section-title">Add a request with a method or a body</span>
      </summary>
      {/* A new key clears the text that the fields keep. */}
      <div class="section-body" key={added}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in a field adds the request, as in a form */}
        <div
          class="form-grid"
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault(); // Enter would submit the job
            add();
          }}
        >
          <TextField
            label="Request URL"
            placeholder="https://shop.example/api"
            value={draft.url}
            onInput={(url) => set({ url })}
          />
          <SelectField
            label="Body"
            value={draft.bodyKind}
            onChange={(bodyKind) => set({ bodyKind: bodyKind as RequestDraft["bodyKind"] })}
            options={BODY_KINDS}
          />
          <SelectField
            label="Method"
            value={draft.method}
            onChange={(method) => set({ method })}
            options={[{ value: "", label: draft.bodyKind === "none" ? "GET (default)" : "POST (default)" }, ...METHODS]}
          />
        </div>
        {draft.bodyKind !== "none" && (
          <TextArea
            label="Request body"
            {...BODIES[draft.bodyKind]}
            value={draft.bodyText}
            onInput={(bodyText) => set({ bodyText })}
            problem={draft.bodyText === "" ? undefined : problem}
          />
        )}
        <PairsField
          label="Request headers"
          placeholder="x-api-key: env:ITEMS_KEY"
          hint="One per line. Write secrets as env:NAME."
          pairs={draft.headers}
          onPairs={(headers) => set({ headers })}
          problem={undefined}
        />
        <div>
          <button type="button" class="small" disabled={!canAdd} onClick={add}>
            Add to start URLs
          </button>
        </div>
      </div>
    </details>
  );
}
