/** An error response, or a server that cannot be reached. Branch on `code`, one of docs/errors.md. */
export class ApiError extends Error {
  readonly code: string;
  /** The HTTP status. 0: no response. */
  readonly status: number;
  /** How to fix the error. */
  readonly fix: string;
  /** The request id in the server log. */
  readonly requestId: string;
  /** The whole problem document: `id`, `taken`, `problems`, … */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>, options?: ErrorOptions) {
    super(String(problem.detail ?? `the server returned ${status}`), options);
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

/** Converts the TypeError that fetch throws for a missing or interrupted response. */
export function unreachable(url: string, error: TypeError): ApiError {
  const problem = {
    code: "API_UNREACHABLE",
    detail: `${url}: ${reasonOf(error)}`,
    fix: "Check the address, and that `trawl serve` runs there.",
  };
  return new ApiError(0, problem, { cause: error });
}

/** The message of fetch is generic. The reason is in its `cause`, or in the `errors` of the cause. */
function reasonOf(error: TypeError): string {
  const cause = error.cause as (Error & { code?: string; errors?: readonly Error[] }) | undefined;
  const [first] = cause?.errors ?? [];
  return first?.message || cause?.message || cause?.code || error.message;
}
