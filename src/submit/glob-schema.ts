/** A glob for URLs in a job. */
import { z } from "zod";
import { globProblem } from "../domain/glob.ts";

export const globSchema = z
  .string()
  .superRefine((text, context) => {
    const problem = globProblem(text);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  })
  .meta({ examples: ["**/catalogue/**", "https://a.example/*"] });
