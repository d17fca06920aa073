/** Style sheet of all pages, with a light and a dark colour scheme and system fonts. */
export const STYLE_SHEET = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f1; --card: #ffffff; --ink: #1b1f1d; --soft: #58605c; --line: #d9ddd8; --edge: #868f8a;
  --accent: #17664b; --accent-hover: #0f4c37; --accent-ink: #ffffff; --notice: #fff6e0; --notice-ink: #664a00; --error: #a3271d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121513; --card: #1b1f1d; --ink: #eceeec; --soft: #a5ada8; --line: #353b38; --edge: #717a75;
    --accent: #5cc79f; --accent-hover: #7fdcb8; --accent-ink: #08231a; --notice: #33290f; --notice-ink: #f3d58a; --error: #ff9a8f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 32rem; margin: 0 auto; padding: clamp(1rem, 6vh, 4rem) 1rem 2rem; }
.brand { margin: 0 0 .75rem .25rem; font-weight: 700; letter-spacing: -.01em; color: var(--accent); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: clamp(1.25rem, 5vw, 2.25rem); }
h1 { overflow-wrap: anywhere; margin: 0 0 .5rem; font-size: 1.45rem; line-height: 1.25; letter-spacing: -.015em; }
p { margin: .5rem 0; }
.soft { color: var(--soft); font-size: .925rem; }
label, h2 { display: block; margin: 1.25rem 0 .35rem; font-size: 1rem; line-height: 1.55; font-weight: 600; }
input[type=email], input[type=text], select, textarea {
  width: 100%; padding: .7rem .8rem; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--edge); border-radius: 9px;
}
textarea { display: block; resize: vertical; }
::placeholder { color: var(--soft); opacity: .8; }
input[aria-invalid=true] { border-color: var(--error); }
input:focus-visible, select:focus-visible, textarea:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button, .button {
  display: block; width: 100%; margin-top: 1.25rem; padding: .75rem 1rem; font: inherit; font-weight: 650; text-align: center;
  text-decoration: none; color: var(--accent-ink); background: var(--accent); border: 1px solid var(--accent); border-radius: 9px; cursor: pointer;
}
button:hover, .button:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
.choices { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
.choices button { color: var(--ink); background: var(--card); border: 2px solid var(--ink); }
.choices button:hover { background: var(--ground); }
pre, textarea, .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .35rem 0 0; padding: .8rem; overflow-wrap: anywhere; white-space: pre-wrap; background: var(--ground); border: 1px solid var(--line); border-radius: 9px; font-size: .875rem; user-select: all; }
textarea { font-size: .875rem; word-break: break-all; field-sizing: content; }
.code { margin: .9rem 0; padding: .7rem; text-align: center; font-size: clamp(1.7rem, 9vw, 2.5rem); font-weight: 700; letter-spacing: .06em; background: var(--ground); border: 1px solid var(--line); border-radius: 9px; }
input.code { padding: .7rem; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 1.5rem; font-weight: 650; text-transform: uppercase; margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .45rem 1rem; margin: 1.25rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
small { display: block; color: var(--soft); font-size: .85rem; line-height: 1.4; }
.caution { margin-top: .2rem; padding: .3rem .55rem; border-radius: 6px; background: var(--notice); color: var(--notice-ink); }
.mark { display: grid; place-items: center; width: 3rem; height: 3rem; margin: 0 0 1rem; border-radius: 50%; background: var(--accent); color: var(--accent-ink); font-size: 1.5rem; line-height: 1; }
.mark.no { background: var(--soft); color: var(--card); }
.mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
ul { margin: .75rem 0; padding-left: 1.1rem; font-size: .925rem; }
fieldset { margin: 1.25rem 0; padding: 0; border: 0; min-width: 0; }
legend { margin-bottom: .35rem; padding: 0; font-weight: 600; }
.option { display: flex; gap: .7rem; align-items: baseline; margin: 0; padding: .6rem .8rem; border: 1px solid var(--edge); font-weight: 400; overflow-wrap: anywhere; cursor: pointer; }
.option + .option { border-top: 0; }
.option:first-of-type { border-radius: 9px 9px 0 0; }
.option:last-of-type { border-radius: 0 0 9px 9px; }
.option:only-of-type { border-radius: 9px; }
.option:has(:checked) { background: var(--ground); font-weight: 600; }
input[type=radio] { margin: 0; accent-color: var(--accent); }
.notice { margin: 1rem 0; padding: .75rem .9rem; border-radius: 9px; background: var(--notice); color: var(--notice-ink); font-size: .925rem; }
.error { margin: 1rem 0 0; color: var(--error); font-weight: 600; }
a { color: var(--accent); text-underline-offset: .15em; }
.wrap { overflow-wrap: anywhere; }
.links { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; margin: 1.5rem 0 0; font-size: .925rem; }
`;
