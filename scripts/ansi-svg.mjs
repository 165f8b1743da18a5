// Draws terminal screens, as printed by `tmux capture-pane -e`, as one animated SVG. The SVG has no script and loads
// nothing, so it works wherever an image works. Without animation, it shows the last frame.

const CELL_WIDTH = 8.4;
const LINE_HEIGHT = 19;
const FONT_SIZE = 14;
const PADDING = 16;
const TITLE_BAR = 34;

const BACKGROUND = "#0d1117";
const FOREGROUND = "#c9d1d9";
/** The colour of each SGR code. Bright colours use the same values. */
const COLOURS = {
  30: "#484f58",
  31: "#ff7b72",
  32: "#3fb950",
  33: "#d29922",
  34: "#58a6ff",
  35: "#bc8cff",
  36: "#39c5cf",
  37: "#f0f6fc",
};

const PLAIN = { colour: undefined, isBold: false, isDim: false };

/** Splits a line with escape codes into runs of one style. Ignores codes other than colour and weight. */
export function parseAnsi(line) {
  const runs = [];
  let style = PLAIN;
  for (const part of line.split(ESCAPE)) {
    const codes = SGR.exec(part)?.[1];
    if (codes !== undefined) style = styled(style, codes === "" ? [0] : codes.split(";").map(Number));
    else if (part !== "" && !part.startsWith("\x1b")) runs.push({ text: part, ...style });
  }
  return runs;
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: escape codes are what this file reads
const ESCAPE = /(\x1b\[[\d;]*[A-Za-z])/;
const SGR = /^\x1b\[([\d;]*)m$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: escape codes are what this file reads

function styled(before, codes) {
  let style = before;
  for (const code of codes) {
    if (code === 0) style = PLAIN;
    else if (code === 1) style = { ...style, isBold: true };
    // Inverse video becomes bold cyan: a run of text has no background here.
    else if (code === 7) style = { ...style, isBold: true, colour: COLOURS[36] };
    else if (code === 27) style = { ...style, isBold: false, colour: undefined };
    else if (code === 2) style = { ...style, isDim: true };
    else if (code === 22) style = { ...style, isBold: false, isDim: false };
    else if (code === 39) style = { ...style, colour: undefined };
    else if (code >= 90 && code <= 97) style = { ...style, colour: COLOURS[code - 60] };
    else if (COLOURS[code] !== undefined) style = { ...style, colour: COLOURS[code] };
  }
  return style;
}

/**
 * A frame is `{ screen, ms }`: the text of a screen, and how long it is shown. The picture is as high as the longest
 * screen.
 */
export function renderSvg({ frames, columns, title }) {
  const rows = Math.max(...frames.map(({ screen }) => screen.trimEnd().split("\n").length));
  const width = Math.ceil(columns * CELL_WIDTH + 2 * PADDING);
  const height = TITLE_BAR + rows * LINE_HEIGHT + PADDING;
  const lines = createLines();
  const drawn = frames.map(({ screen }, index) => {
    const used = screen
      .split("\n")
      .slice(0, rows)
      .flatMap((line, row) => lines.use(line, index * rows + row));
    return used.join("");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${FOREGROUND};white-space:pre}
.b{font-weight:600;fill:#f0f6fc}.d{fill-opacity:.6}
${animation(frames, rows)}</style>
<rect width="${width}" height="${height}" rx="10" fill="${BACKGROUND}"/>
${["#ff5f57", "#febc2e", "#28c840"].map((colour, index) => `<circle cx="${20 + index * 20}" cy="18" r="6" fill="${colour}"/>`).join("")}
<defs>
${lines.definitions()}</defs>
<svg y="${TITLE_BAR}" width="${width}" height="${rows * LINE_HEIGHT}" viewBox="0 0 ${width} ${rows * LINE_HEIGHT}">
<g class="film">
${drawn.join("\n")}
</g>
</svg>
</svg>
`;
}

/**
 * The frames are drawn below each other and moved up by one screen per frame. Without animation, the last frame is
 * shown.
 */
function animation(frames, rows) {
  const screenHeight = rows * LINE_HEIGHT;
  const totalMs = frames.reduce((sum, { ms }) => sum + ms, 0);
  const at = (index) => `transform:translateY(-${index * screenHeight}px)`;
  let passedMs = 0;
  const steps = frames.map(({ ms }, index) => {
    const step = `${((passedMs / totalMs) * 100).toFixed(2)}%{${at(index)}}`;
    passedMs += ms;
    return step;
  });
  return `.film{${at(frames.length - 1)};animation:film ${(totalMs / 1000).toFixed(1)}s step-end infinite}
@keyframes film{${steps.join("")}100%{${at(frames.length - 1)}}}
@media (prefers-reduced-motion:reduce){.film{animation:none}}
`;
}

/** Defines each distinct line once, because most lines of a frame are also in the previous frame. */
function createLines() {
  const known = new Map();
  return {
    use(line, row) {
      const runs = parseAnsi(line.trimEnd());
      if (runs.length === 0) return [];
      const id = known.get(line)?.id ?? `l${known.size}`;
      known.set(line, { id, runs });
      return [`<use href="#${id}" y="${row * LINE_HEIGHT}"/>`];
    },
    definitions: () =>
      [...known.values()].map(({ id, runs }) => `<text id="${id}" y="14">${spans(runs)}</text>\n`).join(""),
  };
}

function spans(runs) {
  let column = 0;
  return runs
    .map(({ text, colour, isBold, isDim }) => {
      const names = [isBold ? "b" : "", isDim ? "d" : ""].join("");
      const attributes = [
        ` x="${round(PADDING + column * CELL_WIDTH)}"`,
        // The width of characters, especially of box-drawing characters, depends on the font: fix it to the grid.
        ` textLength="${round([...text].length * CELL_WIDTH)}" lengthAdjust="spacingAndGlyphs"`,
        names === "" ? "" : ` class="${names}"`,
        colour === undefined ? "" : ` style="fill:${colour}"`,
      ];
      column += [...text].length;
      return `<tspan${attributes.join("")}>${escaped(text)}</tspan>`;
    })
    .join("");
}

function round(value) {
  return Number(value.toFixed(1));
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
