/**
 * Loaded into Trawl's processes of the stage: names under `.example` are those of the stage's own web, which listens on
 * one port of this machine. It stands where a name server would, and changes nothing else.
 */
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const { STAGE_WEB = "" } = process.env;
const [host, port] = STAGE_WEB.split(":");
const isOurs = (name) => typeof name === "string" && name.endsWith(".example");

const { lookup } = dns;
dns.lookup = (name, options) =>
  isOurs(name) ? Promise.resolve([{ address: host, family: 4 }]) : lookup(name, options);

const { connect } = net;
net.connect = (...words) => {
  const [to] = words;
  const isThere = typeof to === "object" && isOurs(to.host) && Number(to.port || 80) === 80;
  return isThere ? connect({ ...to, port: Number(port) }) : connect(...words);
};
syncBuiltinESMExports();
