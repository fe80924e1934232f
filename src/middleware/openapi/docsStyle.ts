/** The look of the page, in light and dark; contrast of text is at least 4.5 to 1 in both. */
export const DOCS_STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#1c2024,#e6e9ec);--paper:light-dark(#fff,#14171a);
  --soft:light-dark(#f3f5f7,#1e2328);--line:light-dark(#cfd6dd,#3a434c);
  --link:light-dark(#0b57a4,#8ac2ff);--good:light-dark(#136c2e,#7fdc9a);
  --bad:light-dark(#a1260d,#ff9d86)}
*{box-sizing:border-box}
body{margin:0;font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
header{padding:1.2rem 1.5rem .4rem;border-bottom:1px solid var(--line)}
h1{margin:0;font-size:1.5rem}
h1 small{font-weight:400;font-size:1rem}
h2{margin:2rem 0 .5rem;font-size:1.25rem}
h3{margin:2rem 0 .4rem;font-size:1.05rem;overflow-wrap:anywhere}
h4{margin:1rem 0 .3rem;font-size:.95rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;background:var(--paper);padding:.5rem;z-index:1}
.columns{display:grid;grid-template-columns:minmax(14rem,19rem) minmax(0,1fr);gap:2rem;
  padding:0 1.5rem 4rem}
nav{font-size:.92rem;position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto;
  padding:1rem 0}
nav h2{font-size:1rem;margin:1rem 0 .2rem}
nav ul{list-style:none;margin:0;padding:0}
nav li{margin:.15rem 0}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
main{max-width:60rem}
main:focus{outline:none}
article{border-top:1px solid var(--line)}
code,pre{font:.88em/1.5 ui-monospace,monospace}
code{overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem;
  overflow:auto;margin:.4rem 0}
.method{display:inline-block;min-width:3.6rem;font:600 .78rem/1.5 ui-monospace,monospace;
  color:var(--ink);border:1px solid var(--line);border-radius:4px;padding:0 .3rem;text-align:center;
  background:var(--soft)}
.status{font:600 .9rem ui-monospace,monospace;margin-right:.4rem}
.good{color:var(--good)}
.bad{color:var(--bad)}
details{border:1px solid var(--line);border-radius:6px;margin:.35rem 0;padding:.3rem .7rem}
summary{cursor:pointer}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{text-align:left;vertical-align:top;border-bottom:1px solid var(--line);
  padding:.3rem .6rem .3rem 0}
th[scope=row] code{white-space:nowrap}
@media (max-width:52rem){.columns{grid-template-columns:minmax(0,1fr);gap:0}nav{position:static;
  max-height:none}}
`;
