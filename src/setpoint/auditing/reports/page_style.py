"""The looks and the filter of the fleet page: its style sheet and its script, as text."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #17202b; --soft: #5a6675; --line: #dfe4ea;
  --safe: #2b8a5f; --unsafe: #c8372d; --unknown: #b07a10; --note: #2f6fb3;
  --code: #f1f3f6; --focus: #2f6fb3;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1a2029; --ink: #e4e9ef; --soft: #97a3b2; --line: #2c3541;
    --safe: #4cb98a; --unsafe: #f0736a; --unknown: #dba63f; --note: #6ca8e6;
    --code: #11161d; --focus: #6ca8e6;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 15px; margin: 0 0 12px; }
.lead { color: var(--soft); margin: 0 0 24px; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px; margin-bottom: 16px; min-width: 0;
}
.counts { display: flex; flex-wrap: wrap; gap: 12px 40px; margin-bottom: 16px; }
.count b { display: block; font-size: 32px; line-height: 1.1; font-variant-numeric: tabular-nums; }
.count span { color: var(--soft); }
.safe { color: var(--safe); } .unsafe, .error { color: var(--unsafe); }
.unknown, .warning { color: var(--unknown); } .note { color: var(--note); }
.bar { display: block; border-radius: 6px; }
.bar .safe { fill: var(--safe); } .bar .unsafe { fill: var(--unsafe); }
.bar .unknown { fill: var(--unknown); }
.columns {
  display: grid; gap: 0 16px; grid-template-columns: repeat(auto-fit, minmax(330px, 1fr));
}
/* A fleet has hundreds of folders; the worst are on top. */
.scroll { max-height: 380px; overflow-y: auto; }
table { border-collapse: collapse; width: 100%; }
th {
  text-align: left; font-weight: 500; color: var(--soft); font-size: 13px; padding: 0 8px 6px 0;
}
td { padding: 5px 8px 5px 0; border-top: 1px solid var(--line); vertical-align: middle; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.grow { width: 24%; min-width: 70px; }
td.name { width: 55%; overflow-wrap: anywhere; }
button.link {
  all: unset; cursor: pointer; overflow-wrap: anywhere;
  text-decoration: underline; text-decoration-color: var(--line); text-underline-offset: 3px;
}
button.link:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.filters { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 14px; }
.filters input, .filters select {
  font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line);
  border-radius: 7px; padding: 6px 10px; min-width: 0; max-width: 100%;
}
.filters input { flex: 1 1 220px; }
.filters select { flex: 0 1 170px; }
.filters button {
  font: inherit; color: inherit; background: none; border: 1px solid var(--line);
  border-radius: 7px; padding: 6px 12px; cursor: pointer;
}
#shown { color: var(--soft); margin: 0 0 8px; font-size: 13px; }
details.pipeline { border-top: 1px solid var(--line); }
details.pipeline > summary {
  display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: baseline;
  padding: 9px 0; cursor: pointer; list-style: none;
}
details.pipeline > summary::-webkit-details-marker { display: none; }
.verdict { font-weight: 650; width: 72px; flex: none; }
.title { font-weight: 600; overflow-wrap: anywhere; }
.where { color: var(--soft); font-size: 13px; overflow-wrap: anywhere; }
.tags { margin-left: auto; display: flex; gap: 6px; flex-wrap: wrap; }
.tag {
  font: 12px/1.6 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  border: 1px solid currentColor; border-radius: 5px; padding: 0 6px;
}
.facts { color: var(--soft); font-size: 13px; margin: 0 0 10px; overflow-wrap: anywhere; }
.finding { border-left: 3px solid currentColor; padding: 2px 0 2px 14px; margin: 0 0 14px; }
.finding > * { color: var(--ink); }
.finding h3 { font-size: 14px; margin: 0 0 4px; font-weight: 600; }
.finding h3 .where { font-weight: 400; }
.finding p { margin: 6px 0; overflow-wrap: anywhere; }
pre {
  background: var(--code); border: 1px solid var(--line); border-radius: 7px; margin: 6px 0;
  padding: 8px 12px; overflow-x: auto;
  font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace;
}
pre i { color: var(--soft); font-style: normal; user-select: none; }
.label { color: var(--soft); font-size: 13px; }
ul.plain { list-style: none; margin: 0; padding: 0; }
ul.plain li { padding: 4px 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
[hidden] { display: none !important; }
@media print { .filters { display: none; } body { background: none; } }
"""

SCRIPT = """
"use strict";
const rows = [...document.querySelectorAll("details.pipeline")];
const fields = ["verdict", "rule", "folder", "owner"].map(n => document.getElementById(n));
const search = document.getElementById("search");
const shown = document.getElementById("shown");
function keep(row) {
  const data = row.dataset;
  for (const field of fields) {
    if (!field || !field.value) continue;
    const has = field.id === "rule"
      ? data.rule.split(" ").includes(field.value)
      : data[field.id] === field.value;
    if (!has) return false;
  }
  const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
  return words.every(word => data.text.includes(word));
}
function refresh() {
  let count = 0;
  for (const row of rows) {
    row.hidden = !keep(row);
    if (!row.hidden) count += 1;
  }
  shown.textContent = count + " of " + rows.length + " pipelines";
}
for (const field of fields) if (field) field.addEventListener("change", refresh);
search.addEventListener("input", refresh);
document.getElementById("clear").addEventListener("click", () => {
  for (const field of fields) if (field) field.value = "";
  search.value = "";
  refresh();
});
for (const link of document.querySelectorAll("button[data-field]")) {
  link.addEventListener("click", () => {
    document.getElementById(link.dataset.field).value = link.dataset.value;
    refresh();
    document.getElementById("pipelines").scrollIntoView();
  });
}
refresh();
"""
