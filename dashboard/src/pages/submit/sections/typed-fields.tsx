/** Fields whose value is not a text: numbers, lists of words, lines, names with values, JSON. */
import { useState } from "preact/hooks";
import { Field, TextField } from "../../../ui/field.tsx";
import { fitLines, linesOfPairs, type Pairs, pairsIn, pairsProblem } from "./pairs.ts";

type NumberProps = {
  label: string;
  hint?: string;
  value: number | undefined;
  onValue: (value: number | undefined) => void;
  problem: string | undefined;
  placeholder?: string;
};

export function NumberField({ value, onValue, placeholder = "no limit", ...field }: NumberProps) {
  return (
    <TextField
      {...field}
      type="number"
      placeholder={placeholder}
      value={value === undefined ? "" : String(value)}
      onInput={(text) => onValue(text === "" ? undefined : Number(text))}
    />
  );
}

type WordsProps = {
  label: string;
  placeholder: string;
  hint?: string;
  words: readonly string[] | undefined;
  onWords: (words: string[] | undefined) => void;
  problem: string | undefined;
};

/** Words separated by spaces. Keeps the text as typed. */
export function WordsField({ words = [], onWords, ...field }: WordsProps) {
  const [text, setText] = useState(words.join(" "));
  const wordsIn = (typed: string) => typed.split(/\s+/).filter(Boolean);
  return (
    <TextField
      {...field}
      value={wordsIn(text).join(" ") === words.join(" ") ? text : words.join(" ")}
      onInput={(typed) => {
        setText(typed);
        onWords(wordsIn(typed).length === 0 ? undefined : wordsIn(typed));
      }}
    />
  );
}

type LinesProps = {
  label: string;
  placeholder: string;
  hint: string;
  lines: readonly string[];
  onLines: (lines: string[]) => void;
  problem: string | undefined;
};

/** One value per line. Keeps the text as typed, including empty lines. */
export function LinesField({ lines, onLines, placeholder, ...field }: LinesProps) {
  const [text, setText] = useState(lines.join("\n"));
  const linesIn = (typed: string) =>
    typed
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  const shown = linesIn(text).join("\n") === lines.join("\n") ? text : lines.join("\n");
  return (
    <TextArea
      {...field}
      placeholder={placeholder}
      value={shown}
      onInput={(typed) => {
        setText(typed);
        onLines(linesIn(typed));
      }}
    />
  );
}

type PairsProps = {
  label: string;
  placeholder: string;
  hint: string;
  /** Undefined counts as no pairs. */
  pairs: Readonly<Record<string, unknown>> | undefined;
  onPairs: (pairs: Pairs) => void;
  problem: string | undefined;
};

/** Names with values, one pair per line. */
export function PairsField({ pairs = {}, onPairs, problem, ...field }: PairsProps) {
  const isText = fitLines(pairs);
  const own = isText ? linesOfPairs(pairs) : "";
  const [text, setText] = useState(own);
  if (!isText) return <p class="muted">{field.label}: these values can only be edited as JSON.</p>;
  const shown = linesOfPairs(pairsIn(text)) === own ? text : own;
  return (
    <TextArea
      {...field}
      problem={problem ?? pairsProblem(shown)}
      value={shown}
      onInput={(typed) => {
        setText(typed);
        onPairs(pairsIn(typed));
      }}
    />
  );
}

type JsonProps = {
  label: string;
  placeholder: string;
  hint: string;
  value: unknown;
  /** Text that is not JSON is passed as a text. The server refuses it. */
  onValue: (value: unknown) => void;
  problem: string | undefined;
};

export function JsonField({ value, onValue, problem, ...field }: JsonProps) {
  const own = typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
  const [text, setText] = useState(own);
  const shown = JSON.stringify(jsonIn(text)) === JSON.stringify(value) ? text : own;
  const isJson = typeof jsonIn(shown) !== "string";
  return (
    <TextArea
      {...field}
      problem={problem ?? (isJson ? undefined : "This is not valid JSON.")}
      value={shown}
      onInput={(typed) => {
        setText(typed);
        onValue(jsonIn(typed));
      }}
    />
  );
}

type TextAreaProps = {
  label: string;
  placeholder: string;
  hint: string;
  problem: string | undefined;
  value: string;
  onInput: (value: string) => void;
};

export function TextArea({ placeholder, value, onInput, ...field }: TextAreaProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <textarea
          {...ids}
          rows={3}
          spellcheck={false}
          placeholder={placeholder}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
