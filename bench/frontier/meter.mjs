/** Measures time, and the CPU time of this process and of the Redis server. */
import { Redis } from "ioredis";

/** Opens a connection that only reads statistics. */
export function openMeter(url) {
  const redis = new Redis(url);

  async function read() {
    const [{ user, system }, now, server] = [process.cpuUsage(), performance.now(), await readInfo()];
    const redisS = Number(server.used_cpu_user) + Number(server.used_cpu_sys);
    return { now, clientS: (user + system) / 1e6, redisS, commands: Number(server.total_commands_processed) };
  }

  async function readInfo() {
    const text = await redis.info();
    return Object.fromEntries(text.split("\r\n").map((line) => line.split(":")));
  }

  return {
    /** Runs `work`, which handles `count` tasks, and returns its time and CPU. */
    async measure(count, work) {
      const before = await read();
      await work();
      const after = await read();
      const wallS = (after.now - before.now) / 1_000;
      const [clientS, redisS] = [after.clientS - before.clientS, after.redisS - before.redisS];
      return {
        count,
        wallS,
        perS: count / wallS,
        clientCpuSPer100k: (clientS / count) * 1e5,
        redisCpuSPer100k: (redisS / count) * 1e5,
        cpuSPer100k: ((clientS + redisS) / count) * 1e5,
        redisCpuShare: redisS / wallS,
        commandsPerS: (after.commands - before.commands - 1) / wallS,
      };
    },
    async usedMemory() {
      await redis.call("MEMORY", "PURGE");
      return Number((await readInfo()).used_memory);
    },
    close: () => redis.disconnect(),
  };
}
