/**
 * The command-line flags of Chromium. Playwright's own flags are not used, because they may change the network access
 * with every version of Playwright. All traffic goes through the filter proxy or is disabled.
 */
type ChromiumFlagOptions = {
  profileFolder: string;
  proxyUrl: string;
  /** Chromium's own sandbox. It does not work for root, and not in containers that forbid user namespaces. */
  hasSandbox: boolean;
};

const NETWORK: readonly string[] = [
  // Without this, loopback traffic bypasses the proxy.
  "--proxy-bypass-list=<-loopback>",
  // The proxy resolves names. Direct lookups fail, and direct connections reach no host.
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--dns-prefetch-disable",
  // UDP cannot pass through an HTTP proxy.
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  // Chromium's own traffic: updates, reports, accounts, hints, lists.
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
  // Prefetching, preconnecting and local network discovery.
  ...["AimEnabled", "AsyncDns", "DnsOverHttpsUpgrade", "MediaRouter", "NetworkTimeServiceQuerying"],
  ...["OptimizationGuideModelDownloading", "OptimizationGuideOnDeviceModel", "OptimizationHints"],
  ...["PreconnectToSearch", "Prerender2", "Translate"],
  // Starts a spare renderer process for the next page of a context. Our contexts have one page.
  "SpareRendererForSitePerProcess",
  // Toolbar UI that is rendered as pages. It starts another renderer process for every context.
  ...["InitialWebUI", "PreloadTopChromeWebUI", "WebUIBackForwardButton", "WebUIHomeButton", "WebUILocationBar"],
  ...["WebUIReloadButton", "WebUISplitTabsButton", "WebUIToolbar"],
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "WebUIOmniboxSimplification"],
  // Do not upgrade http to https.
  ...["HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"],
  // Features that are incompatible with Playwright.
  ...["AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"],
  ...["PaintHolding", "ThirdPartyStoragePartitioning"],
];

const QUIET: readonly string[] = [
  "--headless",
  "--hide-scrollbars",
  "--mute-audio",
  "--disable-gpu",
  // A container's /dev/shm is often 64 MB, and one page can fill it.
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
    // Commands use a pipe. A port would be open to every local process, and to pages.
    "--remote-debugging-pipe",
    "--no-startup-window",
  ];
}
