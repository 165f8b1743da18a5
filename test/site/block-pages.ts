/**
 * Pages as bot protections send them, and pages that only look like them. All are written for these tests: small pages
 * with the parts by which the products can be recognized.
 */

export type SavedPage = {
  /** What the page is, for the name of a test. */
  what: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  html: string;
};

const HTML = { "content-type": "text/html; charset=utf-8" };

function page(title: string, body: string): string {
  return `<!doctype html>\n<html lang="en"><head><title>${title}</title></head>\n<body>${body}</body></html>\n`;
}

/** By the name of the block. */
export const BLOCK_PAGES: Readonly<Record<string, readonly SavedPage[]>> = {
  cloudflare: [
    {
      what: "a challenge with its header",
      status: 403,
      headers: { ...HTML, "cf-mitigated": "challenge" },
      html: page("Checking", "<p>One more step</p>"),
    },
    {
      what: "a challenge page",
      status: 403,
      headers: { ...HTML, server: "cloudflare", "cf-ray": "0a-TST" },
      html: page("Just a moment...", '<script src="/cdn-cgi/challenge-platform/h/g/orchestrate.js"></script>'),
    },
    {
      what: "an older challenge page",
      status: 503,
      headers: { ...HTML, server: "cloudflare" },
      html: page("Wait", '<form id="cf-chl-widget"></form>'),
    },
    {
      what: "the page of a firewall rule",
      status: 403,
      headers: { ...HTML, "cf-ray": "0a-TST" },
      html: page(
        "Attention Required! | Cloudflare",
        '<div id="cf-error-details"><h1>Sorry, you have been blocked</h1></div>',
      ),
    },
  ],
  datadome: [
    {
      what: "a block with its header",
      status: 403,
      headers: { ...HTML, "x-datadome": "protected" },
      html: page("a.test", ""),
    },
    {
      what: "a captcha with status 200",
      status: 200,
      headers: HTML,
      html: page("a.test", '<script data-cfasync="false" src="https://ct.captcha-delivery.com/c.js"></script>'),
    },
  ],
  perimeterx: [
    {
      what: "a block with its header",
      status: 403,
      headers: { ...HTML, "x-px-block": "1" },
      html: page("Denied", ""),
    },
    {
      what: "a press-and-hold page",
      status: 403,
      headers: HTML,
      html: page("Access denied", "<div id=\"px-captcha\"></div><script>window._pxAppId = 'PXtest';</script>"),
    },
  ],
  akamai: [
    {
      what: "a refusal of the edge server",
      status: 403,
      headers: { ...HTML, server: "AkamaiGHost" },
      html: page("Access Denied", "<h1>Access Denied</h1>You don't have permission to access this server."),
    },
    {
      what: "a refusal with a reference",
      status: 403,
      headers: HTML,
      html: page("Access Denied", "<p>Reference #18.1</p><p>https://errors.edgesuite.net/18.1</p>"),
    },
    {
      what: "a challenge",
      status: 429,
      headers: { ...HTML, "retry-after": "5" },
      html: page("", '<script src="/_sec/cp_challenge/a.js"></script>'),
    },
  ],
  captcha: [
    {
      what: "a reCAPTCHA",
      status: 429,
      headers: HTML,
      html: page("Are you human?", '<form method="post"><div class="g-recaptcha" data-sitekey="k"></div></form>'),
    },
    {
      what: "an hCaptcha",
      status: 403,
      headers: HTML,
      html: page("Check", '<div class="h-captcha"></div><script src="https://js.hcaptcha.com/1/api.js"></script>'),
    },
    {
      what: "a Turnstile",
      status: 403,
      headers: HTML,
      html: page("Check", '<div class="cf-turnstile" data-sitekey="k"></div>'),
    },
    {
      what: "a captcha of the site itself",
      status: 403,
      headers: HTML,
      html: page("Check", '<img src="/captcha.png"><input name="answer">'),
    },
  ],
  "status 403": [
    { what: "an ordinary 403 page", status: 403, headers: HTML, html: page("403 Forbidden", "<h1>Forbidden</h1>") },
    {
      what: "an ordinary 403 page behind Cloudflare",
      status: 403,
      headers: { ...HTML, server: "cloudflare", "cf-ray": "0a-TST" },
      html: page("Members only", "<h1>Members only</h1><p>Sign in to read this page.</p>"),
    },
  ],
  "status 429": [
    { what: "a 429 without Retry-After", status: 429, headers: HTML, html: page("Slow down", "Too many requests") },
  ],
};

const ABOUT = `<h1>What "Just a moment..." means</h1>
<p>Sites behind Cloudflare show "Attention Required! | Cloudflare", and others show a captcha or a Turnstile.</p>
<p>DataDome, PerimeterX and Akamai do the same.</p>`;

export const OTHER_PAGES: readonly SavedPage[] = [
  {
    what: "an article about Cloudflare, behind Cloudflare",
    status: 200,
    headers: { ...HTML, server: "cloudflare", "cf-ray": "0a-TST" },
    html: page("Just a moment... explained", ABOUT),
  },
  {
    what: "a contact form with a reCAPTCHA",
    status: 200,
    headers: HTML,
    html: page("Contact", '<form><textarea name="text"></textarea><div class="g-recaptcha"></div></form>'),
  },
  {
    what: "a missing article about Cloudflare",
    status: 404,
    headers: { ...HTML, server: "cloudflare" },
    html: page("Not found", ABOUT),
  },
  {
    what: "a 429 with Retry-After",
    status: 429,
    headers: { ...HTML, "retry-after": "5" },
    html: page("Slow down", "Too many requests"),
  },
  { what: "maintenance", status: 503, headers: HTML, html: page("Maintenance", "We are back soon") },
  { what: "a login page", status: 401, headers: HTML, html: page("Sign in", "<form></form>") },
];
