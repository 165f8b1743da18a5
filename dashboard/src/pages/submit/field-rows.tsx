/** The fields of a record: a name, where it is on the page, and what it is. */
import { useRef } from "preact/hooks";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import type { Problems } from "../../ui/problems.ts";
import { type Draft, doubledNames, FIELD_TYPES, type FieldRow, newRow } from "./draft.ts";

type FieldRowsProps = { draft: Draft; onDraft: (draft: Draft) => void; problems: Problems };

const TYPES = FIELD_TYPES.map((type) => ({ value: type, label: type }));

export function FieldRows({ draft, onDraft, problems }: FieldRowsProps) {
  const { rows, each } = draft;
  const doubled = doubledNames(rows);
  const list = useRef<HTMLDivElement>(null);
  const put = (row: FieldRow) => onDraft({ ...draft, rows: rows.map((one) => (one.key === row.key ? row : one)) });
  const add = () => {
    onDraft({ ...draft, rows: [...rows, newRow(Math.max(0, ...rows.map(({ key }) => key)) + 1)] });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(".field-row:last-child input")?.focus());
  };
  return (
    <fieldset class="form-part">
      <legend>Extract</legend>
      {rows.length === 0 && (
        <p class="quiet">Without fields, every page gives its title, its description, its text and its links.</p>
      )}
      <div ref={list} class="field-rows">
        {rows.map((row) => (
          <Row
            key={row.key}
            row={row}
            problem={doubled.has(row.name) ? "Two fields have this name." : problems.at(`extract.${row.name}`)}
            onRow={put}
            onRemove={() => onDraft({ ...draft, rows: rows.filter(({ key }) => key !== row.key) })}
          />
        ))}
      </div>
      <div class="field-rows-foot">
        <button type="button" class="small" onClick={add}>
          Add a field
        </button>
        {rows.length > 0 && (
          <TextField
            label="One record for each"
            placeholder="the whole page"
            hint="A CSS selector, such as .product; fields are looked for inside."
            value={each}
            onInput={(value) => onDraft({ ...draft, each: value })}
            problem={problems.at("extract.$each")}
          />
        )}
      </div>
    </fieldset>
  );
}

type RowProps = {
  row: FieldRow;
  problem: string | undefined;
  onRow: (row: FieldRow) => void;
  onRemove: () => void;
};

function Row({ row, problem, onRow, onRemove }: RowProps) {
  const name = row.name === "" ? "the new field" : row.name;
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
        <Plain row={row} name={name} problem={problem} onRow={onRow} />
      ) : (
        <p class="field-whole quiet">
          <code>{JSON.stringify(row.whole).slice(0, 200)}</code> is changed as JSON.
          {problem !== undefined && <span class="field-problem"> {problem}</span>}
        </p>
      )}
      <button type="button" class="small" aria-label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </button>
    </div>
  );
}

function Plain({ row, name, problem, onRow }: Omit<RowProps, "onRemove"> & { name: string }) {
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
