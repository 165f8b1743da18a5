/**
 * A component that runs in the background. Stopping an unstarted or stopped one is a no-op. `stop` resolves only when
 * all its work has ended.
 */
export type Service = {
  start(): void;
  stop(): Promise<void>;
};
