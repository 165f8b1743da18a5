/** What the server refused, or could not do, or that nobody answers. Branch on `code`, one of docs/errors.md. */
export class ApiError extends Error {
  readonly code: string;
  /** 0: no answer came. */
  readonly status: number;
  /** What to do about it. */
  readonly fix: string;
  /** Under which the server's log has it. */
  readonly requestId: string;
  /** All that the answer says: `id`, `taken`, `problems`, … */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(String(problem.detail ?? `the server answered with ${status}`), options);
    this.name = "ApiError";
    this.code = String(problem.code ?? "INTERNAL");
    this.status = status;
    this.fix = String(problem.fix ?? "");
    this.requestId = String(problem.requestId ?? "");
    this.problem = problem;
  }
}

export function isApiError(error: unknown, ...codes: readonly string[]): error is ApiError {
  return error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
}

/** What fetch throws where no answer came, or one that broke off. */
export function unreachable(url: string, error: TypeError): ApiError {
  const problem = {
    code: "API_UNREACHABLE",
    detail: `${url}: ${reasonOf(error)}`,
    fix: "Check the address, and that `trawl serve` runs there.",
  };
  return new ApiError(0, problem, { cause: error });
}

/** fetch itself says only that it failed; why, stands in its cause, or in the causes of that. */
function reasonOf(error: TypeError): string {
  const cause = error.cause as (Error & { code?: string; errors?: readonly Error[] }) | undefined;
  const [first] = cause?.errors ?? [];
  return first?.message || cause?.message || cause?.code || error.message;
}
