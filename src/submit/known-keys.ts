/** What an object of a schema may hold: for whoever mistyped a key. */
import { z } from "zod";

/** The keys at a path of the schema, with commas between; empty where any are taken, or the path leads to no object. */
export function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string {
  let at: z.ZodType | undefined = schema;
  for (const key of path) {
    const inner = bare(at);
    at = inner instanceof z.ZodObject ? (inner.shape[String(key)] as z.ZodType | undefined) : undefined;
  }
  const object = bare(at);
  return object instanceof z.ZodObject ? Object.keys(object.shape).join(", ") : "";
}

function bare(schema: z.ZodType | undefined): z.ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
    ? bare(schema.unwrap() as z.ZodType)
    : schema;
}
