/** The job key `profile`: the browsers whose headers the requests of the job have. */
import { z } from "zod";
import { PROFILE_GROUPS, PROFILE_NAMES, type ProfileName } from "../domain/header-profile.ts";

const NAMES = [...Object.keys(PROFILE_GROUPS), ...PROFILE_NAMES];

const profileName = z.enum(NAMES, {
  error: (issue) => `takes ${NAMES.join(", ")}, not ${JSON.stringify(issue.input)}`,
});

export const profileSchema = z.union([profileName, z.array(profileName).min(1).max(20)], {
  error: `takes one of ${NAMES.join(", ")}, or a list of them`,
});

/** The profiles, with groups replaced by their members. */
export function profilesFrom(written: z.output<typeof profileSchema>): ProfileName[] {
  const names = typeof written === "string" ? [written] : written;
  return [...new Set(names.flatMap((name) => PROFILE_GROUPS[name] ?? [name as ProfileName]))];
}

/** The name of a group, if the profiles are those of a group. */
export function profilesAsWritten(names: readonly ProfileName[]): z.output<typeof profileSchema> {
  const group = Object.keys(PROFILE_GROUPS).find((one) => PROFILE_GROUPS[one]?.join() === names.join());
  return group ?? (names.length === 1 && names[0] !== undefined ? names[0] : [...names]);
}
