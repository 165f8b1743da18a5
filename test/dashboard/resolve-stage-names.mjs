/**
 * Loaded into the Trawl processes of the stage. Resolves names under `.example` to the web server of the stage, which
 * listens on one port of this machine, and changes nothing else.
 */
import dns from "node:dns/promises";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const { STAGE_WEB = "" } = process.env;
const [host, port] = STAGE_WEB.split(":");
const isStageName = (name) => typeof name === "string" && name.endsWith(".example");

const { lookup } = dns;
dns.lookup = (name, options) =>
  isStageName(name) ? Promise.resolve([{ address: host, family: 4 }]) : lookup(name, options);

const { connect } = net;
net.connect = (...args) => {
  const [to] = args;
  const isStage = typeof to === "object" && isStageName(to.host) && Number(to.port || 80) === 80;
  return isStage ? connect({ ...to, port: Number(port) }) : connect(...args);
};
syncBuiltinESMExports();
