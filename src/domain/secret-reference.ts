/** `env:NAME` or `file:PATH`: stands for a secret that workers read from their environment or disk. */
const REFERENCE = /^(env|file):(.+)$/s;

export type SecretReference = { kind: "env" | "file"; name: string };

/** The parts of a reference; undefined for any other text. */
export function parseSecretReference(text: string): SecretReference | undefined {
  const [, kind, name] = REFERENCE.exec(text) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind: kind as SecretReference["kind"], name };
}
