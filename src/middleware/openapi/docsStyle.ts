/**
 * The look of the page, in light and dark: that of the page at `/v1/ui`, whose colours and fonts
 * are repeated here, since this page loads nothing. Contrast of text is at least 4.5 to 1 in both.
 */
export const DOCS_STYLE = `
:root{color-scheme:light dark;
  --ground:light-dark(#f6f7f8, #11161a);--panel:light-dark(#ffffff, #191f24);
  --sunken:light-dark(#eef1f3, #12181c);--line:light-dark(#d5dbe0, #2e383f);
  --text:light-dark(#182026, #e7ecef);--soft:light-dark(#51606b, #a3b1bb);
  --accent:light-dark(#1f5f6b, #76c5d1);--accent-deep:light-dark(#164850, #9bd8e1);
  --good:light-dark(#1b6a3f, #7fd3a1);--bad:light-dark(#a32626, #ff9d94);
  --mono:ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --radius:10px;
  font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",
  "DejaVu Sans",sans-serif}
*{box-sizing:border-box}
body{margin:0;color:var(--text);background:var(--ground)}
.top{background:var(--panel);border-bottom:1px solid var(--line)}
.bar{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 2rem;min-height:4rem;
  max-width:84rem;margin-inline:auto;padding:.5rem 1.5rem}
.brand{display:inline-flex;align-items:center;gap:.6rem;min-height:2.75rem;font-weight:650;
  font-size:1.0625rem;color:var(--text);text-decoration:none}
.mark{fill:var(--accent)}
.bar p{margin:0;color:var(--soft);font-size:.875rem;overflow-wrap:anywhere}
.back{display:inline-flex;align-items:center;min-height:2.75rem;margin-inline-start:auto}
h1{max-width:84rem;margin:0 auto;padding:.5rem 1.5rem 1.5rem;
  font-size:1.75rem;font-weight:650;line-height:1.25}
h1 small{font-weight:400;font-size:1rem;color:var(--soft)}
h2{margin:2.5rem 0 .5rem;font-size:1.25rem;font-weight:650}
h3{margin:0 0 .4rem;font-size:1.05rem;overflow-wrap:anywhere}
h4{margin:1rem 0 .3rem;font-size:.95rem}
a{color:var(--accent);text-underline-offset:.2em}
a:hover{color:var(--accent-deep)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:1rem;top:-4rem;background:var(--panel);padding:.6rem 1rem;z-index:1;
  border-radius:0 0 var(--radius) var(--radius)}
.skip:focus{top:0}
.columns{display:grid;grid-template-columns:minmax(14rem,19rem) minmax(0,1fr);gap:2rem;
  max-width:84rem;margin-inline:auto;padding:0 1.5rem 4rem}
nav{font-size:.92rem;position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto;
  padding:1rem .25rem}
nav h2{font-size:1rem;margin:1rem 0 .2rem}
nav ul{list-style:none;margin:0;padding:0}
nav a{text-decoration:none}
nav li a{display:grid;grid-template-columns:auto minmax(0,1fr);gap:.5rem;align-items:start;
  padding:.2rem 0;min-height:1.5rem}
nav a:hover{text-decoration:underline}
main{max-width:60rem;min-width:0}
main:focus{outline:none}
article{background:var(--panel);border:1px solid var(--line);border-radius:var(--radius);
  padding:1.25rem 1.5rem;margin:1rem 0}
code,pre{font:.875em/1.5 var(--mono)}
code{overflow-wrap:anywhere}
pre{background:var(--sunken);border-radius:8px;padding:.7rem .85rem;overflow:auto;margin:.4rem 0}
.method{display:inline-block;min-width:3.6rem;font:600 .78rem/1.5 var(--mono);color:var(--text);
  border:1px solid var(--line);border-radius:6px;padding:0 .3rem;text-align:center;
  background:var(--sunken)}
.status{font:600 .9rem var(--mono);margin-right:.4rem}
.good{color:var(--good)}
.bad{color:var(--bad)}
details{background:var(--panel);border:1px solid var(--line);border-radius:8px;margin:.35rem 0;
  padding:.3rem .85rem}
summary{cursor:pointer;min-height:1.5rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{text-align:left;vertical-align:top;border-bottom:1px solid var(--line);
  padding:.3rem .6rem .3rem 0}
th[scope=row] code{white-space:nowrap}
@media (max-width:52rem){.columns{grid-template-columns:minmax(0,1fr);gap:0;padding-inline:1rem}
  .bar,h1{padding-inline:1rem}nav{position:static;max-height:none}.back{margin:0}
  article{padding:1rem 1.1rem}}
`;
