"""The looks of the page, as text. It has no script."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #17202b; --soft: #5a6675; --line: #dfe4ea;
  --good: #2b8a5f; --bad: #c8372d; --noted: #b07a10; --code: #f1f3f6;
  --before: #fdeceb; --after: #e7f5ee; --mark: #f6d6d3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --ink: #e4e9ef; --soft: #97a3b2; --line: #2c3541;
    --good: #4cb98a; --bad: #f0736a; --noted: #dba63f; --code: #11161d;
    --before: #3a2224; --after: #17322a; --mark: #5a2c2f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 960px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 19px; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 15px; margin: 20px 0 6px; }
.lead, .facts { color: var(--soft); }
.lead { margin: 0 0 24px; }
.facts { font-size: 13px; margin: 4px 0 14px; overflow-wrap: anywhere; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px 22px; margin-bottom: 18px; min-width: 0;
}
.card.bad { border-left: 5px solid var(--bad); } .card.good { border-left: 5px solid var(--good); }
.card.none { border-left: 5px solid var(--noted); }
.word { font-weight: 700; font-size: 13px; letter-spacing: .04em; text-transform: uppercase; }
.good { color: var(--good); } .bad { color: var(--bad); } .none, .noted { color: var(--noted); }
.card > * { color: var(--ink); } .card > .word.good { color: var(--good); }
.card > .word.bad { color: var(--bad); } .card > .word.none { color: var(--noted); }
.card > .facts, .card > .left { color: var(--soft); }
.left { font-size: 13px; margin: 10px 0 0; }
table { border-collapse: collapse; width: 100%; }
td, th { padding: 5px 10px 5px 0; border-top: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 500; color: var(--soft); font-size: 13px; border-top: 0; }
td.state { width: 80px; font-weight: 600; white-space: nowrap; }
td.check { width: 136px; font-weight: 600; white-space: nowrap; }
td .asked { display: block; color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table.rows { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; width: auto; }
table.rows td, table.rows th { padding: 3px 12px; white-space: nowrap; }
tr.before { background: var(--before); } tr.after { background: var(--after); }
td.mark { font-weight: 700; }
dl { margin: 12px 0 0; display: grid; grid-template-columns: 64px 1fr; gap: 4px 12px; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
dd.code { overflow-x: auto; white-space: pre; }
dd.code, code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
@media (max-width: 600px) {
  main { padding: 20px 12px 40px; } .card { padding: 16px 14px; }
  table.checks tr { display: block; border-top: 1px solid var(--line); padding: 6px 0; }
  table.checks td { border: 0; padding: 0 12px 0 0; width: auto; }
  table.checks td.state, table.checks td.check { display: inline-block; }
  table.checks td:last-child { display: block; }
}
@media print { body { background: none; } .card { break-inside: avoid; } }
"""
