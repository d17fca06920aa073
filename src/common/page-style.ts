/** One sheet for all pages. System fonts, two colour schemes, one accent. */
export const STYLE_SHEET = `
:root {
  color-scheme: light dark;
  --ground: #f3f4f1; --card: #ffffff; --ink: #1b1f1d; --soft: #58605c; --line: #d9ddd8;
  --accent: #17664b; --accent-ink: #ffffff; --notice: #fff6e0; --notice-ink: #664a00; --error: #a3271d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #121513; --card: #1b1f1d; --ink: #eceeec; --soft: #a5ada8; --line: #353b38;
    --accent: #5cc79f; --accent-ink: #08231a; --notice: #33290f; --notice-ink: #f3d58a; --error: #ff9a8f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 32rem; margin: 0 auto; padding: clamp(1rem, 6vh, 4rem) 1rem 2rem; }
.brand { margin: 0 0 .75rem .25rem; font-weight: 700; letter-spacing: -.01em; color: var(--accent); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: clamp(1.25rem, 5vw, 2.25rem); }
h1 { margin: 0 0 .5rem; font-size: 1.45rem; line-height: 1.25; letter-spacing: -.015em; }
p { margin: .5rem 0; }
.soft { color: var(--soft); font-size: .925rem; }
label { display: block; margin: 1.25rem 0 .35rem; font-weight: 600; }
input[type=email], input[type=text], select, textarea {
  width: 100%; padding: .7rem .8rem; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--line); border-radius: 9px;
}
textarea { resize: vertical; }
input:focus-visible, select:focus-visible, textarea:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
button, .button {
  display: block; width: 100%; margin-top: 1.25rem; padding: .75rem 1rem; font: inherit; font-weight: 650; text-align: center;
  text-decoration: none; color: var(--accent-ink); background: var(--accent); border: 1px solid var(--accent); border-radius: 9px; cursor: pointer;
}
.choices { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; }
.choices button { color: var(--ink); background: var(--card); border: 2px solid var(--ink); }
pre, textarea, .code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .35rem 0 0; padding: .8rem; overflow-wrap: anywhere; white-space: pre-wrap; background: var(--ground); border: 1px solid var(--line); border-radius: 9px; font-size: .875rem; }
textarea { font-size: .875rem; overflow-wrap: anywhere; }
.code { margin: 1rem 0; padding: 1rem; text-align: center; font-size: clamp(1.7rem, 9vw, 2.5rem); font-weight: 700; letter-spacing: .06em; background: var(--ground); border: 1px solid var(--line); border-radius: 9px; }
input.code { text-transform: uppercase; font-size: 1.5rem; margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .45rem 1rem; margin: 1.25rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.notice { margin: 1rem 0; padding: .75rem .9rem; border-radius: 9px; background: var(--notice); color: var(--notice-ink); font-size: .925rem; }
.error { margin: 1rem 0 0; color: var(--error); font-weight: 600; }
a { color: var(--accent); }
`;
