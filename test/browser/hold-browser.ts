/**
 * A process for lifetime.test.ts: starts a browser with one page, prints the browser's folder, and runs until it is
 * killed.
 */
import { launchBrowser } from "../../src/fetch/browser/launch-browser.ts";
import { createEgressGate } from "../../src/fetch/egress/gate.ts";

const gate = createEgressGate({}, { allowNetworks: [], allowHosts: [], connectMs: 5_000 });
const [executablePath = ""] = process.argv.slice(2);
const hasSandbox = process.getuid?.() !== 0;
const options = { executablePath, hasSandbox, launchMs: 30_000 };
const { browser, folder } = await launchBrowser(gate, options, new AbortController().signal);
const page = await browser.newPage();
await page.setContent("<p>here</p>");
console.log(folder);
