/** The form of queue names, both of the built-in queues of task kinds and of those that users choose. */
export const BUILT_IN_QUEUES = ["fetch", "render", "parse", "deliver"] as const;

export const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
