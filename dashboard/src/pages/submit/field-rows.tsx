/** The extract fields of the form: name, selector, type. */
import { useRef } from "preact/hooks";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import type { FieldProblems } from "../../ui/field-problems.ts";
import { duplicateNames, FIELD_TYPES, type FieldRow, type JobDraft, newRow } from "./job-draft.ts";

type FieldRowsProps = { draft: JobDraft; onDraft: (draft: JobDraft) => void; problems: FieldProblems };

const TYPES = FIELD_TYPES.map((type) => ({ value: type, label: type }));

export function FieldRows({ draft, onDraft, problems }: FieldRowsProps) {
  const { rows, each } = draft;
  const duplicates = duplicateNames(rows);
  const list = useRef<HTMLDivElement>(null);
  const update = (row: FieldRow) => onDraft({ ...draft, rows: rows.map((one) => (one.key === row.key ? row : one)) });
  const add = () => {
    onDraft({ ...draft, rows: [...rows, newRow(Math.max(0, ...rows.map(({ key }) => key)) + 1)] });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(".field-row:last-child input")?.focus());
  };
  return (
    <fieldset class="form-part">
      <legend>Extract</legend>
      {rows.length === 0 && (
        <p class="muted">Without fields, Trawl extracts title, description, text and links of every page.</p>
      )}
      <div ref={list} class="field-rows">
        {rows.map((row) => (
          <Row
            key={row.key}
            row={row}
            problem={duplicates.has(row.name) ? "Another field has the same name." : problems.at(`extract.${row.name}`)}
            onRow={update}
            onRemove={() => onDraft({ ...draft, rows: rows.filter(({ key }) => key !== row.key) })}
          />
        ))}
      </div>
      <div class="field-rows-foot">
        <button type="button" class="small" onClick={add}>
          Add field
        </button>
        {rows.length > 0 && (
          <TextField
            label="One record per"
            placeholder="page"
            hint="CSS selector of the elements, such as .product. Field selectors apply inside each element."
            value={each}
            onInput={(value) => onDraft({ ...draft, each: value })}
            problem={problems.at("extract.$each")}
          />
        )}
      </div>
    </fieldset>
  );
}

type FieldRowProps = {
  row: FieldRow;
  problem: string | undefined;
  onRow: (row: FieldRow) => void;
  onRemove: () => void;
};

function Row({ row, problem, onRow, onRemove }: FieldRowProps) {
  const name = row.name === "" ? "new field" : row.name;
  return (
    <div class="field-row">
      <TextField
        label="Name"
        isLabelHidden
        placeholder="name"
        value={row.name}
        onInput={(value) => onRow({ ...row, name: value })}
      />
      {row.whole === undefined ? (
        <RuleFields row={row} name={name} problem={problem} onRow={onRow} />
      ) : (
        <p class="field-json muted">
          <code>{JSON.stringify(row.whole).slice(0, 200)}</code> Edit this rule as JSON.
          {problem !== undefined && <span class="field-problem"> {problem}</span>}
        </p>
      )}
      <button type="button" class="small" aria-label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </button>
    </div>
  );
}

function RuleFields({ row, name, problem, onRow }: Omit<FieldRowProps, "onRemove"> & { name: string }) {
  return (
    <>
      <TextField
        label={`Selector of ${name}`}
        isLabelHidden
        placeholder=".price, a@href, jsonld:Product.name"
        inputClass="mono"
        value={row.select}
        onInput={(select) => onRow({ ...row, select })}
        problem={problem}
      />
      <SelectField
        label={`Type of ${name}`}
        isLabelHidden
        value={row.type}
        onChange={(type) => onRow({ ...row, type: type as FieldRow["type"] })}
        options={TYPES}
      />
      <span class="field-checks">
        <CheckField
          label="required"
          isChecked={row.isRequired}
          onChange={(isRequired) => onRow({ ...row, isRequired })}
        />
        <CheckField label="list" isChecked={row.isList} onChange={(isList) => onRow({ ...row, isList })} />
      </span>
    </>
  );
}
