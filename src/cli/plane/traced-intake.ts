import type { Submission, Tracing } from "../../runtime/tracing.ts";
import type { Intake } from "../../submit/submit-stream.ts";

/** The same, with a span from its beginning to its end. */
export function tracedIntake(tracing: Tracing, intake: Intake): Intake {
  if (!tracing.isOn) return intake;
  const { id, requestId } = intake.job;
  let submission: Submission | undefined;
  return {
    ...intake,
    begin() {
      submission = tracing.submission(requestId, undefined, { "trawl.job.id": id });
      return intake.begin();
    },
    async seal() {
      await intake.seal();
      submission?.end({});
    },
  };
}
