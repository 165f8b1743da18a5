import { createManualClock } from "../../model/manual-clock.ts";
import { createModelFrontier } from "../../model/model-frontier.ts";
import { type Backend, START_AT } from "./backend.ts";

/** The model, which the backends are compared with, must pass the contract too. */
export const modelBackend: Backend = {
  async open({ maxPending }) {
    const clock = createManualClock(START_AT);
    return { clock, frontier: createModelFrontier({ clock }, { maxPending }) };
  },
  features: {
    sharing: { gap: "the model is in the memory of one process", clauses: [] },
    versions: { gap: "the model is never stored", clauses: ["F19"] },
    costs: { gap: "the model recomputes everything on purpose", clauses: ["F4"] },
  },
  cleanUp: async () => {},
};
