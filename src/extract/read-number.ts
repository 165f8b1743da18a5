/**
 * Parses numbers in common notations. Ambiguous text: a single comma before exactly three digits is a thousands
 * separator ("1,234"), any other single comma is a decimal separator ("1,5"). A single dot is a decimal point
 * ("1.234"), unless an integer is expected.
 */

/** The first number in a text, or null: "£51.77", "1.234,56 €", "1 234,5", "-12", "1e3". */
export function readNumber(text: string): number | null {
  return firstNumber(text, NUMBER, NUMBER_FORMS);
}

/**
 * The first number in a text if it is an integer, otherwise null. "1.234" is 1234 here, because no decimals are
 * expected.
 */
export function readInteger(text: string): number | null {
  const value = firstNumber(text, INTEGER, INTEGER_FORMS);
  return Number.isInteger(value) ? value : null;
}

/** A number notation, and how to convert a match to JavaScript syntax. */
type Form = { pattern: string; normalize(written: string): string };

const withoutCommas = (written: string) => written.replaceAll(",", "");
const withDecimalComma = (written: string) => written.replaceAll(".", "").replace(",", ".");
const withoutSpaces = (written: string) => written.replace(/[^\d.,]/g, "").replace(",", ".");

/** Characters that some locales use as thousands separator: several kinds of spaces, and apostrophes. */
const SPACE = "[ \\u00a0\\u2007\\u2009\\u202f'\\u2019]";
const NUMBER_FORMS: readonly Form[] = [
  // 1,234,567.8, and the Indian 12,34,567.8
  { pattern: "[1-9]\\d{0,2}(?:,\\d{2,3})*,\\d{3}(?!\\d)(?:\\.\\d+)?", normalize: withoutCommas },
  // 1.234.567,8
  { pattern: "[1-9]\\d{0,2}(?:\\.\\d{3})+,\\d+", normalize: withDecimalComma },
  // 1.234.567
  { pattern: "[1-9]\\d{0,2}(?:\\.\\d{3}){2,}(?!\\d)", normalize: withDecimalComma },
  // 1 234 567,8
  { pattern: `[1-9]\\d{0,2}(?:${SPACE}\\d{3})+(?!\\d)(?:[.,]\\d+)?`, normalize: withoutSpaces },
  // 0,75
  { pattern: "\\d+,\\d+", normalize: withDecimalComma },
  // 12.5, .5, 1e21
  { pattern: "(?:\\d+(?:\\.\\d+)?|\\.\\d+)(?:[eE][+-]?\\d+)?", normalize: (written) => written },
];
const INTEGER_FORMS: readonly Form[] = [
  // 1.234
  { pattern: "[1-9]\\d{0,2}\\.\\d{3}(?![\\d.,]*\\d)", normalize: withDecimalComma },
  ...NUMBER_FORMS,
];
const NUMBER = anyOf(NUMBER_FORMS);
const INTEGER = anyOf(INTEGER_FORMS);

function anyOf(forms: readonly Form[]): RegExp {
  return new RegExp(forms.map(({ pattern }) => `(${pattern})`).join("|"));
}

/**
 * A minus that belongs to the number after it: "-5", "−5", "-£5", "-EUR 5", "£-5", "CHF-5", but neither "X-5" nor "3 -
 * 5".
 */
const MINUS_BEFORE = /(?:^|[\s(\p{Sc}]|\b(?:CHF|EUR|GBP|USD))[-\u2212\u2013](?:[A-Z]{0,3}\p{Sc} ?|[A-Z]{3} ?)?$/u;
/**
 * How many characters before the number are tested. `MINUS_BEFORE` matches fewer characters, so its `^` matches only at
 * the start of the whole text.
 */
const SIGN_CHARS = 9;

function firstNumber(text: string, pattern: RegExp, forms: readonly Form[]): number | null {
  const match = pattern.exec(text);
  if (match === null) return null;
  const [written, ...groups] = match;
  const form = forms[groups.findIndex((group) => group !== undefined)];
  const value = Number(form?.normalize(written));
  if (!Number.isFinite(value)) return null;
  const before = text.slice(Math.max(0, match.index - SIGN_CHARS), match.index);
  return MINUS_BEFORE.test(before) ? -value : value;
}
