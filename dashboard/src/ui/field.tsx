/** Form fields with label, hint and error message. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

type Ids = { id: string; "aria-describedby": string | undefined; "aria-invalid": boolean | undefined };

type FieldProps = {
  label: string;
  hint?: string;
  /** The error message; replaces the hint. */
  problem?: string | undefined;
  /** Shows the label to screen readers only. */
  isLabelHidden?: boolean;
  children: (ids: Ids) => ComponentChildren;
};

export function Field({ label, hint, problem, isLabelHidden = false, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  const isDescribed = hint !== undefined || problem !== undefined;
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? "sr-only" : "field-label"}>
        {label}
      </label>
      {children({
        id,
        "aria-describedby": isDescribed ? hintId : undefined,
        "aria-invalid": problem === undefined ? undefined : true,
      })}
      {isDescribed && (
        <p id={hintId} class={problem === undefined ? "field-hint" : "field-problem"}>
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

type TextProps = Omit<FieldProps, "children"> & {
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "password" | "search" | "number" | "url";
  placeholder?: string;
  autocomplete?: string;
  isRequired?: boolean;
  inputClass?: string;
};

export function TextField({ value, onInput, type = "text", placeholder, autocomplete, ...rest }: TextProps) {
  const { isRequired = false, inputClass, ...field } = rest;
  return (
    <Field {...field}>
      {(ids) => (
        <input
          {...ids}
          type={type as "text"}
          class={inputClass}
          value={value}
          placeholder={placeholder}
          autocomplete={autocomplete ?? "off"}
          required={isRequired}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type SelectProps = Omit<FieldProps, "children"> & {
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string }[];
};

export function SelectField({ value, onChange, options, ...field }: SelectProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <select {...ids} value={value} onInput={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

type CheckProps = { label: string; isChecked: boolean; onChange: (isChecked: boolean) => void };

/**
 * Listens to `input`, as `SelectField` does. If a form handles `input` and renders again, a listener for `change`, which
 * is the later event, would read the old value.
 */
export function CheckField({ label, isChecked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onInput={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}
