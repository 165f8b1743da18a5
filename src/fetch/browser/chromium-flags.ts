/**
 * How Chromium is started, as one list of ours: Playwright's own is left out, so that what may reach the network does
 * not change with its version. Every way out leads through the filter proxy, or is closed.
 */
export type ChromiumFlagOptions = {
  profileFolder: string;
  proxyUrl: string;
  /** Chromium's own sandbox. Does not work for root, nor in containers that forbid user namespaces. */
  hasSandbox: boolean;
};

const NETWORK: readonly string[] = [
  // Without this, loopback goes past the proxy whatever else is said.
  "--proxy-bypass-list=<-loopback>",
  // The proxy resolves names. Whatever asks itself finds no host, and whatever connects by itself arrives nowhere.
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--dns-prefetch-disable",
  // UDP has no way through an HTTP proxy.
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Chromium's own business: updates, reports, accounts, hints, lists.
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-field-trial-config",
  "--disable-sync",
  "--metrics-recording-only",
  "--no-pings",
  "--no-service-autorun",
];

const FEATURES_OFF: readonly string[] = [
  // The network again: what it would look up, connect to ahead of need, or find in the neighbourhood.
  ...["AimEnabled", "AsyncDns", "DnsOverHttpsUpgrade", "MediaRouter", "NetworkTimeServiceQuerying"],
  ...["OptimizationGuideModelDownloading", "OptimizationGuideOnDeviceModel", "OptimizationHints"],
  ...["PreconnectToSearch", "Prerender2", "Translate"],
  // A renderer process kept ready for a next page of the same context, which never comes.
  "SpareRendererForSitePerProcess",
  // Buttons around a page that nobody sees, drawn as pages themselves: another renderer process for every context.
  ...["InitialWebUI", "PreloadTopChromeWebUI", "WebUIBackForwardButton", "WebUIHomeButton", "WebUILocationBar"],
  ...["WebUIReloadButton", "WebUISplitTabsButton", "WebUIToolbar"],
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxSimplification"],
  // A URL is asked for with the scheme it has.
  ...["HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"],
  // What Playwright cannot work with.
  ...["AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"],
  ...["PaintHolding", "ThirdPartyStoragePartitioning"],
];

const QUIET: readonly string[] = [
  "--headless",
  "--hide-scrollbars",
  "--mute-audio",
  "--disable-gpu",
  // A container's /dev/shm is often 64 MB, which one page fills.
  "--disable-dev-shm-usage",
  "--disable-back-forward-cache",
  "--disable-background-timer-throttling",
  "--disable-backgrounding-occluded-windows",
  "--disable-component-extensions-with-background-pages",
  "--disable-default-apps",
  "--disable-extensions",
  "--disable-hang-monitor",
  "--disable-ipc-flooding-protection",
  "--disable-prompt-on-repost",
  "--disable-renderer-backgrounding",
  "--disable-search-engine-choice-screen",
  "--force-color-profile=srgb",
  "--no-default-browser-check",
  "--no-first-run",
  "--password-store=basic",
  "--use-mock-keychain",
];

export function chromiumFlags({ profileFolder, proxyUrl, hasSandbox }: ChromiumFlagOptions): string[] {
  return [
    ...QUIET,
    ...NETWORK,
    `--proxy-server=${proxyUrl}`,
    `--disable-features=${FEATURES_OFF.join(",")}`,
    "--enable-features=SkipListAccountsWithoutGaiaCookies",
    ...(hasSandbox ? [] : ["--no-sandbox"]),
    `--user-data-dir=${profileFolder}`,
    // Commands come over a pipe: a port would be open to every process of the machine, and to pages.
    "--remote-debugging-pipe",
    "--no-startup-window",
  ];
}
