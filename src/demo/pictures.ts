/** Product pictures as SVG: one outline per category, with colours and proportions of the product. */
import type { Product } from "./catalogue.ts";

type Paint = { main: string; dark: string; light: string };

/** The path of a product's picture. */
export function picturePath({ id }: Product): string {
  return `/images/${id}.svg`;
}

export function drawPicture({ id, department }: Product): string {
  const hue = (department.hue + ((id * 37) % 70) - 35 + 360) % 360;
  const paint = { main: `hsl(${hue} 46% 56%)`, dark: `hsl(${hue} 44% 40%)`, light: `hsl(${hue} 60% 80%)` };
  const outline = OUTLINES[department.slug] ?? box;
  const scale = 0.86 + ((id * 13) % 20) / 100;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 240" width="640" height="480">
<rect width="320" height="240" fill="hsl(${hue} 42% 93%)"/>
<circle cx="${60 + ((id * 53) % 200)}" cy="${70 + ((id * 29) % 60)}" r="92" fill="hsl(${hue} 50% 88%)"/>
<rect y="190" width="320" height="50" fill="hsl(${hue} 34% 86%)"/>
<g transform="translate(160 192) scale(${scale.toFixed(2)})"><ellipse cx="0" cy="2" rx="78" ry="9" fill="hsl(${hue} 25% 70%)" opacity=".5"/>${outline(paint, id)}</g>
</svg>
`;
}

/** The shop's icon: a boat on a wave. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="16" fill="#0f4c5c"/><path d="M31 12v26H14z" fill="#f6f1e7"/><path d="M34 18v20h14z" fill="#e9a15b"/><path d="M10 41h44l-7 9H17z" fill="#f6f1e7"/><path d="M8 55q6-5 12 0t12 0 12 0 12 0" fill="none" stroke="#7fc4c9" stroke-width="3" stroke-linecap="round"/></svg>
`;

/** Each outline stands on y = 0, is about 150 high and is centred on x = 0. */
const OUTLINES: Readonly<Record<string, (paint: Paint, id: number) => string>> = {
  kitchen: mug,
  lighting: lamp,
  garden: plant,
  stationery: notebook,
  textiles: cushion,
  storage: box,
  travel: bag,
  play: blocks,
};

function mug({ main, dark, light }: Paint, id: number): string {
  const top = -100 - (id % 4) * 8;
  return `<path d="M48 ${top + 26}h18a24 24 0 0 1 0 48h-22" fill="none" stroke="${dark}" stroke-width="12"/>
<path d="M-56 ${top}h112l-8 ${-top - 10}q-1 10-12 10h-72q-11 0-12-10z" fill="${main}"/>
<ellipse cx="0" cy="${top}" rx="56" ry="12" fill="${dark}"/><path d="M-53 ${top + 40}h106l-2 20h-102z" fill="${light}" opacity=".8"/>`;
}

function lamp({ main, dark, light }: Paint, id: number): string {
  const flare = 26 + (id % 5) * 6;
  return `<path d="M-${flare + 62} 0h${2 * flare + 124}l-${flare} -70h-124z" fill="${light}" opacity=".55"/>
<rect x="-4" y="-80" width="8" height="74" fill="${dark}"/><rect x="-36" y="-8" width="72" height="8" rx="4" fill="${dark}"/>
<path d="M-${flare} -150h${2 * flare}l${70 - flare} 74h-140z" fill="${main}"/><path d="M-70 -82h140l3 8h-146z" fill="${dark}" opacity=".6"/>`;
}

function plant({ main, dark, light }: Paint, id: number): string {
  const leaves = Array.from({ length: 5 + (id % 3) }, (_, index) => {
    const angle = -62 + (124 / (4 + (id % 3))) * index;
    return `<ellipse cx="0" cy="-46" rx="13" ry="48" fill="${index % 2 === 0 ? main : dark}" transform="translate(0 -66) rotate(${angle.toFixed(0)})"/>`;
  });
  return `${leaves.join("")}<path d="M-46 -70h92l-12 70h-68z" fill="hsl(18 48% 58%)"/><rect x="-52" y="-78" width="104" height="18" rx="4" fill="hsl(18 48% 50%)"/>
<path d="M-40 -34h80l-2 10h-76z" fill="${light}" opacity=".55"/>`;
}

function notebook({ main, dark, light }: Paint, id: number): string {
  const tilt = (id % 7) - 3;
  return `<g transform="rotate(${tilt})"><rect x="-52" y="-146" width="112" height="146" rx="6" fill="#fffdf8" stroke="${light}" stroke-width="2"/>
<rect x="-60" y="-150" width="112" height="150" rx="7" fill="${main}"/><rect x="-60" y="-150" width="18" height="150" rx="6" fill="${dark}"/>
<rect x="-26" y="-120" width="60" height="30" rx="4" fill="${light}"/><path d="M34 -150v170l-7 -8 -7 8v-170z" fill="${dark}" opacity=".75" transform="translate(4 -20) scale(1 .9)"/></g>`;
}

function cushion({ main, dark, light }: Paint, id: number): string {
  const stripes = Array.from({ length: 3 + (id % 3) }, (_, index) => {
    const y = -112 + index * (90 / (2 + (id % 3)));
    return `<path d="M-72 ${y.toFixed(0)}q72 12 144 0" fill="none" stroke="${index % 2 === 0 ? light : dark}" stroke-width="7"/>`;
  });
  return `<path d="M-84 -134q84 18 168 0 -16 66 0 132 -84 -16 -168 0 16 -66 0 -132z" fill="${main}"/>${stripes.join("")}
<circle cx="-84" cy="-134" r="7" fill="${dark}"/><circle cx="84" cy="-134" r="7" fill="${dark}"/><circle cx="-84" cy="-2" r="7" fill="${dark}"/><circle cx="84" cy="-2" r="7" fill="${dark}"/>`;
}

function box({ main, dark, light }: Paint, id: number): string {
  const weave = Array.from({ length: 4 }, (_, row) =>
    Array.from({ length: 6 }, (_, column) => {
      const isLight = (row + column + id) % 2 === 0;
      return `<rect x="${-69 + column * 23}" y="${-82 + row * 20}" width="21" height="18" rx="3" fill="${isLight ? light : dark}" opacity=".6"/>`;
    }).join(""),
  );
  return `<path d="M-40 -104q40 -52 80 0" fill="none" stroke="${dark}" stroke-width="9"/><rect x="-74" y="-104" width="148" height="104" rx="9" fill="${main}"/>
<rect x="-80" y="-108" width="160" height="20" rx="6" fill="${dark}"/>${weave.join("")}`;
}

function bag({ main, dark, light }: Paint, id: number): string {
  const pocket = 34 + (id % 4) * 5;
  return `<path d="M-24 -132q0 -24 24 -24t24 24" fill="none" stroke="${dark}" stroke-width="9"/>
<path d="M-62 -90q0 -48 62 -48t62 48v78q0 12 -12 12h-100q-12 0 -12 -12z" fill="${main}"/>
<rect x="-44" y="-${pocket + 14}" width="88" height="${pocket}" rx="8" fill="${light}"/><path d="M-62 -92h124v14h-124z" fill="${dark}"/>
<rect x="-8" y="-98" width="16" height="28" rx="4" fill="${light}"/>`;
}

function blocks({ main, dark, light }: Paint, id: number): string {
  const shift = (id % 5) * 4 - 8;
  return `<rect x="-78" y="-58" width="58" height="58" rx="6" fill="${main}"/><rect x="-14" y="-58" width="58" height="58" rx="6" fill="${dark}"/>
<rect x="${-46 + shift}" y="-116" width="58" height="58" rx="6" fill="${light}" stroke="${main}" stroke-width="2"/>
<circle cx="62" cy="-20" r="20" fill="hsl(44 80% 60%)"/><path d="M${-17 + shift} -156l34 40h-68z" fill="hsl(200 45% 55%)"/>
<circle cx="-49" cy="-29" r="13" fill="${light}"/><rect x="3" y="-41" width="24" height="24" rx="3" fill="${main}"/>`;
}
