/** The part of the Standard Schema interface (version 1) that Trawl uses. zod, valibot and others implement it. */
export type StandardSchema<Input = unknown> = {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    validate(value: unknown): StandardResult | Promise<StandardResult>;
    readonly types?: { readonly input: Input; readonly output: unknown } | undefined;
  };
};

type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

type StandardIssue = {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** The issues in one line: `price: expected number; title: required`. */
export function issuesText(issues: readonly StandardIssue[]): string {
  return issues
    .map(({ message, path = [] }) => {
      const keys = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
      return keys === "" ? message : `${keys}: ${message}`;
    })
    .join("; ");
}
