/**
 * Everything that runs. Stopping an unstarted or stopped one is a no-op, and `stop` resolves only when nothing of it
 * runs any more.
 */
export type Service = {
  start(): void;
  stop(): Promise<void>;
};
