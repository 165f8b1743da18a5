export type RunProcess = { pid: number; command: string; file: string | undefined };
export type EndOptions = { graceMs?: number; keepsFolder?: boolean };
export function beginTestRun(): string | undefined;
export function endTestRun(folder: string, options?: EndOptions): Promise<string[]>;
export function beginTestFile(path: string): void;
export function endTestFile(options?: EndOptions): Promise<string[]>;
export function findProcesses(mark: string): RunProcess[];
