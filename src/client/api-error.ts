/** What the server refused, or could not do. Branch on `code`, one of docs/errors.md. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  /** What to do about it. */
  readonly fix: string;
  /** Under which the server's log has it. */
  readonly requestId: string;
  /** All that the answer says: `id`, `taken`, `problems`, … */
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(status: number, problem: Readonly<Record<string, unknown>>) {
    super(String(problem.detail ?? `the server answered with ${status}`));
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
