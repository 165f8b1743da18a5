/**
 * Headers carry sessions and passwords: who set them knows them, and whoever looks at a schedule sees a mask. What was looked
 * at is sent back to change it, so a mask that comes back stands for the value that is kept; it is never stored itself.
 */
import { TrawlError } from "../errors.ts";
import type { JobInput } from "../submit/job-schema.ts";

const MASK = "***";

export function withMaskedHeaders<Job extends Pick<JobInput, "headers">>(job: Job): Job {
  const { headers } = job;
  if (headers === undefined) return job;
  return { ...job, headers: Object.fromEntries(Object.keys(headers).map((name) => [name, MASK])) };
}

/**
 * The job with the values that its masks stand for in `kept`, the job as it was until now. Only where they go to the hosts
 * they went to: else a value that nobody may see could be sent to a host of anybody's choice. Throws BAD_SCHEDULE.
 */
export function withKeptHeaders(job: JobInput, kept: JobInput | undefined): JobInput {
  const { headers } = job;
  if (headers === undefined || !Object.values(headers).includes(MASK)) return job;
  const known = new Map(Object.entries(kept?.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const whole = Object.entries(headers).map(([name, value]) => {
    if (value !== MASK) return [name, value];
    const before = known.get(name.toLowerCase());
    if (before === undefined) throw bad(name, "and no value of it is kept here");
    if (kept === undefined || !goesNoFurther(job, kept)) {
      throw bad(
        name,
        "and its value is kept only while the job's URLs stay on their hosts, with the same spider and scope",
      );
    }
    return [name, before];
  });
  return { ...job, headers: Object.fromEntries(whole) };
}

function goesNoFurther(job: JobInput, kept: JobInput): boolean {
  const hosts = new Set(hostsOf(kept));
  const isSameCode = job.spider === kept.spider && job.follow?.scope === kept.follow?.scope;
  return isSameCode && hostsOf(job).every((host) => hosts.has(host));
}

function hostsOf({ urls = [] }: JobInput): string[] {
  return urls.map((url) => (URL.canParse(url) ? new URL(url).host : url));
}

function bad(name: string, why: string): TrawlError {
  return new TrawlError("BAD_SCHEDULE", {
    op: "schedule.change",
    message: `job.headers.${name}: ${MASK} stands for a value that is not shown, ${why}; give the value itself`,
    detail: { header: name },
  });
}
