/** The queues of the task kinds. Users may choose other queue names. */
export const BUILT_IN_QUEUES = ["fetch", "render", "parse", "deliver"] as const;

/** The form of every queue name. */
export const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
