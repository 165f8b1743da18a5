import { z } from "zod";

/** The page that a path names. */
export const pageId = z.strictObject({
  id: z
    .string()
    .regex(/^[0-9]{1,15}$/, "is the number of a page, as GET /v1/jobs/{id}/pages has it")
    .transform(Number),
});
