import { describe, expect, it } from "vitest";
import { html, jsonScript } from "./html.ts";

describe("html", () => {
  it("escapes text and keeps markup", () => {
    const inner = html`<b>${"<&>\"'"}</b>`;

    expect(html`<p title="${'"x"'}">${inner}</p>`.markup).toBe(
      '<p title="&quot;x&quot;"><b>&lt;&amp;&gt;&quot;&#39;</b></p>',
    );
  });

  it("joins lists of markup and writes numbers, including zero", () => {
    expect(html`${[html`<i>a</i>`, html`<i>b</i>`]}${0}`.markup).toBe("<i>a</i>\n<i>b</i>0");
  });

  it("writes structured data that cannot close its script element", () => {
    const { markup } = jsonScript({ name: "</script><b>" });

    expect(markup).not.toContain("</script><b>");
    expect(markup).toContain("\\u003c/script>");
  });
});
