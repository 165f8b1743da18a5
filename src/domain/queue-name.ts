/** Names of queues: those a task goes to by what is to be done with it, and those that users give. */
export const BUILT_IN_QUEUES = ["fetch", "render", "parse", "deliver"] as const;

export const QUEUE_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
