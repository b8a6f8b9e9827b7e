/** Colours, type, and layout. */
export const frameCss = `
:where(:root, :host) {
  --tro-page: light-dark(#f6f7f9, #0e1014);
  --tro-card: light-dark(#ffffff, #15181d);
  --tro-sunken: light-dark(#f4f5f7, #101216);
  --tro-hover: light-dark(#eef0f3, #1d2127);
  --tro-line: light-dark(#e3e6eb, #272c34);
  --tro-edge: light-dark(#a3abb8, #566070);
  --tro-text: light-dark(#16191f, #e8eaee);
  --tro-muted: light-dark(#5a6371, #98a2b0);
  --tro-accent: light-dark(#3f51d1, #9aacff);
  --tro-accent-soft: light-dark(#eaedfd, #232a48);
  --tro-on-accent: light-dark(#ffffff, #10142a);
  --tro-good: light-dark(#13713f, #62d49b);
  --tro-good-soft: light-dark(#e2f5ea, #15312a);
  --tro-warn: light-dark(#8a5300, #f2be63);
  --tro-warn-soft: light-dark(#fdf1db, #372a13);
  --tro-bad: light-dark(#b3202f, #ff979d);
  --tro-bad-soft: light-dark(#fdeaec, #3d191e);
  --tro-font: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --tro-mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --tro-radius: 10px;
  --tro-tiny: 11px;
  --tro-small: 12px;
  --tro-base: 13px;
  --tro-read: 15px;
  --tro-large: 20px;
}
:where(.troupe-observer) { color-scheme: light dark; }
[data-theme="light"] .troupe-observer, .troupe-observer[data-theme="light"] { color-scheme: light; }
[data-theme="dark"] .troupe-observer, .troupe-observer[data-theme="dark"] { color-scheme: dark; }
.troupe-observer {
  background: var(--tro-page);
  color: var(--tro-text);
  font: 13px/1.45 var(--tro-font);
  font-variant-numeric: tabular-nums;
  text-align: start;
  -webkit-text-size-adjust: 100%;
}
.troupe-observer, .troupe-observer *, .troupe-observer *::before, .troupe-observer *::after { box-sizing: border-box; }
.troupe-observer :where(h2, h3, h4, p, dl, dd, ul, ol, pre) { margin: 0; padding: 0; }
.troupe-observer :where(ul, ol) { list-style: none; }
.troupe-observer code { font-family: var(--tro-mono); font-size: 0.92em; overflow-wrap: anywhere; }
.troupe-observer :focus-visible { outline: 2px solid var(--tro-accent); outline-offset: 1px; }
.tro-observer { block-size: 100%; min-block-size: 0; overflow: auto; }
.tro-frame {
  container-type: inline-size;
  block-size: 100%;
  display: flex;
  flex-direction: column;
  gap: 12px;
  padding: 12px;
  position: relative;
}
.tro-summary {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 4px 24px;
  padding: 8px 16px;
  background: var(--tro-card);
  border: 1px solid var(--tro-line);
  border-radius: var(--tro-radius);
}
.tro-counters { display: flex; flex-wrap: wrap; gap: 4px 20px; flex: 1 1 auto; }
.tro-counters dt, .tro-meter-figures dt, .tro-figures dt { color: var(--tro-muted); font-size: var(--tro-tiny); white-space: nowrap; }
.tro-counters dd, .tro-summary .tro-meter-figures [data-kind] dd { font-size: var(--tro-read); font-weight: 600; line-height: 1.3; letter-spacing: -0.01em; }
.tro-counters [data-bad] dd { color: var(--tro-bad); }
.tro-counters [data-zombies] dd { color: var(--tro-warn); }
.tro-summary .tro-meters { flex: 0 1 auto; gap: 4px; }
.tro-summary .tro-meter-figures :is([data-kind="fresh"], [data-kind="cached"], [data-kind="output"]) { display: none; }
.tro-grid {
  display: grid;
  flex: none;
  gap: 12px;
  grid-template-columns: minmax(0, 5fr) minmax(0, 6fr);
  grid-template-areas: "chart chart" "turn turn" "processes process" "log log";
  grid-template-rows: auto auto 400px auto;
}
.tro-panel {
  position: relative;
  display: flex;
  flex-direction: column;
  min-inline-size: 0;
  min-block-size: 0;
  background: var(--tro-card);
  border: 1px solid var(--tro-line);
  border-radius: var(--tro-radius);
  overflow: hidden;
}
.tro-grid > [data-part="processes"] { grid-area: processes; }
.tro-grid > [data-part="process"] { grid-area: process; }
.tro-grid > [data-part="chart"] { grid-area: chart; }
.tro-grid > [data-part="turn"] { grid-area: turn; }
.tro-grid > [data-part="log"] { grid-area: log; }
.tro-grid > .tro-panel { max-block-size: 400px; }
.tro-grid > [data-part="turn"] { max-block-size: 260px; }
:not([data-chat]) > .tro-grid { grid-template-areas: "chart chart" "processes process"; grid-template-rows: auto 400px; }
.tro-panel > h2 {
  padding: 10px 16px;
  border-block-end: 1px solid var(--tro-line);
  font-size: 13px;
  font-weight: 600;
}
.tro-body { position: relative; overflow: auto; min-block-size: 0; flex: 1 1 auto; display: flex; flex-direction: column; }
.tro-body > * { flex: 1 1 auto; min-block-size: 0; }
@container (min-width: 1080px) {
  .tro-grid, :not([data-chat]) > .tro-grid {
    flex: 1 1 auto;
    grid-template-columns: minmax(300px, 4fr) minmax(0, 5fr) minmax(0, 6fr);
    grid-template-areas: "processes process chart";
    grid-template-rows: minmax(420px, 1fr);
  }
  [data-chat] > .tro-grid {
    grid-template-areas: "processes process chart" "processes process turn" "log log turn";
    grid-template-rows: minmax(210px, 1fr) minmax(140px, 1fr) minmax(200px, 1fr);
  }
  .tro-grid > .tro-panel, .tro-grid > [data-part="turn"] { block-size: 0; min-block-size: 100%; max-block-size: none; }
}
.tro-frame[data-narrow] { gap: 8px; padding: 8px; }
.tro-frame[data-narrow] > .tro-panel { flex: 1 1 auto; overflow: auto; }
.tro-frame[data-narrow] > .tro-panel > * { flex: 1 0 auto; }
.tro-frame[data-narrow] .tro-summary > * { flex-basis: 100%; justify-content: space-between; }
.tro-summary, .tro-tabs { flex: none; }
.tro-tabs {
  display: flex;
  overflow-x: auto;
  gap: 2px;
  background: var(--tro-card);
  border: 1px solid var(--tro-line);
  border-radius: var(--tro-radius);
  padding: 4px;
}
.tro-tabs > button {
  flex: 1 0 auto;
  min-block-size: 40px;
  padding: 0 12px;
  border: 0;
  border-radius: 7px;
  background: none;
  color: var(--tro-muted);
  font: inherit;
  font-weight: 500;
  cursor: pointer;
}
.tro-tabs > button[aria-selected="true"] { background: var(--tro-accent-soft); color: var(--tro-text); }
.tro-empty { color: var(--tro-muted); padding: 12px 16px; }
.tro-block .tro-empty { padding: 0; }
.tro-note { color: var(--tro-muted); padding: 8px 16px; }
.tro-hidden { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.tro-number { font-variant-numeric: tabular-nums; color: var(--tro-muted); white-space: nowrap; }
`
