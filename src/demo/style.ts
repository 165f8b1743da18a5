/** The shop's style sheet. */
export const STYLE = `:root {
  --ink: #20302f; --soft: #5d6f6d; --paper: #fbf8f2; --card: #ffffff; --line: #e6dfd1;
  --sea: #0f4c5c; --foam: #e3f0ef; --sun: #e07a3f; --good: #2d7a4f; --bad: #a3402f;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif; }
h1, h2, h3, .brand { font-family: Georgia, "Iowan Old Style", "Liberation Serif", serif; line-height: 1.2; margin: 0; }
a { color: var(--sea); }
img { display: block; max-width: 100%; height: auto; }
.wrap { max-width: 1120px; margin: 0 auto; padding: 0 24px; }
main { min-height: 60vh; padding-bottom: 56px !important; }
main > h2 { font-size: 26px; margin: 48px 0 18px; }

.masthead { background: #fff; border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 1; }
.masthead .wrap { display: flex; align-items: center; gap: 28px; min-height: 68px; flex-wrap: wrap; }
.brand { display: flex; align-items: center; gap: 10px; font-size: 21px; font-weight: 700; text-decoration: none; color: var(--ink); white-space: nowrap; }
.menu { display: flex; gap: 4px; flex-wrap: wrap; flex: 1; }
.menu a { padding: 6px 11px; border-radius: 8px; text-decoration: none; color: var(--soft); font-size: 15px; }
.menu a:hover { background: var(--foam); color: var(--sea); }
.menu a[aria-current] { background: var(--foam); color: var(--sea); font-weight: 600; }
.basket { padding: 7px 16px; border: 1px solid var(--line); border-radius: 999px; text-decoration: none; font-size: 15px; }

.hero { margin: 32px 0 0; padding: 56px 56px 48px; border-radius: 20px; color: #fff; background: radial-gradient(circle at 88% 20%, #e9a15b 0 70px, transparent 72px), linear-gradient(170deg, #0f4c5c 55%, #2b7a82 56% 72%, #58a4a8 73%); }
.hero h1 { font-size: 46px; letter-spacing: -.01em; }
.hero p { max-width: 560px; font-size: 18px; margin: 14px 0 0; }
.hero .eyebrow { margin: 0 0 10px; font-size: 14px; letter-spacing: .08em; text-transform: uppercase; color: #bfe0df; }
.button { display: inline-block; margin-top: 12px; padding: 11px 22px; border-radius: 10px; background: var(--sun); color: #fff; font-weight: 600; font-size: 16px; text-decoration: none; }
.button:hover { filter: brightness(1.06); }
.button.quiet { background: rgba(255, 255, 255, .16); margin-left: 8px; }

.tiles, .cards { display: grid; grid-template-columns: repeat(4, 1fr); gap: 20px; padding: 0; margin: 0; list-style: none; }
.tile, .card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; overflow: hidden; transition: transform .15s, box-shadow .15s; }
.tile:hover, .card:hover { transform: translateY(-2px); box-shadow: 0 10px 24px rgba(32, 48, 47, .09); }
.tile { text-decoration: none; color: var(--soft); font-size: 14px; }
.tile img, .card img { width: 100%; aspect-ratio: 4 / 3; object-fit: cover; }
.tile span { display: flex; justify-content: space-between; align-items: baseline; padding: 12px 16px; }
.tile strong { font: 700 18px Georgia, "Liberation Serif", serif; color: var(--ink); }
.card h3 { font-size: 17px; padding: 14px 16px 0; }
.card h3 a { color: var(--ink); text-decoration: none; }
.card-foot { display: flex; justify-content: space-between; padding: 4px 16px 14px; margin: 0; }
.cost { font-weight: 600; }
.card-rating { color: var(--soft); font-size: 14px; }

.breadcrumb { padding: 22px 0 14px; font-size: 14px; color: var(--soft); }
.breadcrumb a { color: var(--soft); }
.breadcrumb a::after { content: "\\203A"; display: inline-block; margin: 0 8px; }
.list-head { margin-bottom: 26px; }
.list-head h1, .notice h1 { font-size: 38px; }
.list-head p { margin: 6px 0 0; color: var(--soft); }
.list-head .count { font-size: 14px; }
.pagination { display: flex; gap: 8px; justify-content: center; margin-top: 36px; }
.pagination > * { padding: 7px 14px; border: 1px solid var(--line); border-radius: 9px; background: #fff; text-decoration: none; }
.pagination [aria-current] { background: var(--sea); border-color: var(--sea); color: #fff; }

.product { display: grid; grid-template-columns: 1.08fr 1fr; gap: 48px; align-items: start; }
.product .picture { width: 100%; border-radius: 18px; border: 1px solid var(--line); }
.facts h1 { font-size: 38px; }
.facts p { margin: 10px 0 0; }
.rating { color: var(--soft); font-size: 15px; }
.stars { color: var(--sun); letter-spacing: 2px; font-size: 18px; }
.value { color: var(--ink); font-weight: 600; }
.facts .price { font-size: 32px; font-weight: 700; margin-top: 14px; }
.stock { color: var(--good); font-weight: 600; font-size: 15px; }
.stock::before { content: ""; display: inline-block; width: 9px; height: 9px; border-radius: 50%; background: currentColor; margin-right: 8px; }
.stock.out { color: var(--bad); }
.facts .description { margin-top: 18px; font-size: 17px; }
.tags { display: flex; flex-wrap: wrap; gap: 8px; }
.tag { padding: 3px 12px; border-radius: 999px; background: var(--foam); font-size: 14px; text-decoration: none; }
.details { border-collapse: collapse; margin-top: 26px; width: 100%; font-size: 15px; }
.details th, .details td { text-align: left; padding: 9px 12px 9px 0; border-top: 1px solid var(--line); }
.details th { color: var(--soft); font-weight: 500; width: 34%; }
.notice { max-width: 720px; }
.notice p, .notice li { font-size: 17px; }

.footer { border-top: 1px solid var(--line); background: #f3ede1; color: var(--soft); font-size: 15px; }
.footer .wrap { display: flex; justify-content: space-between; gap: 24px; flex-wrap: wrap; padding-top: 20px; padding-bottom: 20px; }
.footer p { margin: 0; }
.footer nav { display: flex; gap: 18px; }
@media (max-width: 860px) {
  .tiles, .cards { grid-template-columns: repeat(2, 1fr); }
  .product { grid-template-columns: 1fr; }
  .hero { padding: 36px 28px; }
  .hero h1 { font-size: 34px; }
}
`;
