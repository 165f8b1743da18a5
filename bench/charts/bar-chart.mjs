/**
 * Draws horizontal bars as SVG. The picture has no background and sets its colours by the colour scheme of the viewer,
 * so it is readable on light and dark pages. It has no script and loads nothing. Pure.
 */

const WIDTH = 760;
const LABEL_WIDTH = 250;
const VALUE_WIDTH = 130;
const BAR_HEIGHT = 16;
const ROW_HEIGHT = 24;
const TITLE_HEIGHT = 34;
const GROUP_HEIGHT = 26;
const PADDING = 10;
const BARS_WIDTH = WIDTH - LABEL_WIDTH - VALUE_WIDTH;

const STYLE = `text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.title{font-size:15px;font-weight:600}.group{font-weight:600}.label{text-anchor:end}
.ours{fill:#0969da}.theirs{fill:#8c959f}.range{stroke:#1f2328;stroke-width:1.5;fill:none}
.limit{stroke:#cf222e;stroke-width:2}.axis{stroke:#8c959f;stroke-width:1}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ours{fill:#4493f8}.theirs{fill:#6e7681}.range{stroke:#e6edf3}.limit{stroke:#ff7b72}.axis{stroke:#6e7681}}`;

/**
 * `groups` is a list of `{ title, bars }`, and a bar is `{ label, value, min, max, text, isOurs, limit }`. All bars
 * have the same scale; with `isScaledByGroup`, each group has its own. A bar has a line from `min` to `max`, and a mark
 * at `limit` if it has one. A bar without a value shows only its text, such as the reason.
 */
export function barChart({ title, groups, isScaledByGroup = false }) {
  const scaleOfAll = createScale(groups.flatMap(({ bars }) => bars));
  const parts = [];
  let y = TITLE_HEIGHT;
  for (const group of groups) {
    if (group.title !== undefined) {
      parts.push(`<text class="group" x="${PADDING}" y="${y + 16}">${escaped(group.title)}</text>`);
      y += GROUP_HEIGHT;
    }
    const top = y;
    const xOf = isScaledByGroup ? createScale(group.bars) : scaleOfAll;
    for (const bar of group.bars) {
      parts.push(drawBar(bar, y, xOf));
      y += ROW_HEIGHT;
    }
    parts.push(`<line class="axis" x1="${LABEL_WIDTH}" x2="${LABEL_WIDTH}" y1="${top}" y2="${y - 4}"/>`);
    y += PADDING;
  }
  const height = y + PADDING;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<text class="title" x="${PADDING}" y="20">${escaped(title)}</text>
${parts.join("\n")}
</svg>
`;
}

/** Returns the function that maps a value to its place in the picture. */
function createScale(bars) {
  const largest = Math.max(0, ...bars.flatMap(({ value, max, limit }) => [value, max, limit].filter(Number.isFinite)));
  return (value) => round(LABEL_WIDTH + (largest === 0 ? 0 : (value / largest) * BARS_WIDTH));
}

function drawBar({ label, value, min, max, text, isOurs, limit }, y, xOf) {
  const middle = y + BAR_HEIGHT / 2;
  const parts = [`<text class="label" x="${LABEL_WIDTH - 8}" y="${y + 13}">${escaped(label)}</text>`];
  let end = LABEL_WIDTH;
  if (Number.isFinite(value)) {
    const width = round(Math.max(1, xOf(value) - LABEL_WIDTH));
    parts.push(
      `<rect class="${isOurs ? "ours" : "theirs"}" x="${LABEL_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>`,
    );
    end = LABEL_WIDTH + width;
    if (Number.isFinite(min) && Number.isFinite(max) && max > min) {
      parts.push(`<path class="range" d="M${xOf(min)} ${middle}H${xOf(max)}"/>`);
      end = Math.max(end, xOf(max));
    }
    if (Number.isFinite(limit)) {
      parts.push(
        `<line class="limit" x1="${xOf(limit)}" x2="${xOf(limit)}" y1="${y - 2}" y2="${y + BAR_HEIGHT + 2}"/>`,
      );
      end = Math.max(end, xOf(limit));
    }
  }
  parts.push(`<text x="${round(end + 8)}" y="${y + 13}">${escaped(text)}</text>`);
  return parts.join("");
}

function round(value) {
  return Number(value.toFixed(1));
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
