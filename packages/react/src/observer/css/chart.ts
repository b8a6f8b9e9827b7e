/** The statechart. */
export const chartCss = `
.tro-chart { position: relative; display: flex; flex-direction: column; min-block-size: 340px; }
.tro-active { padding: 10px 16px; }
.tro-active > span { color: var(--tro-muted); }
.tro-canvas {
  flex: 1 1 0;
  min-block-size: 280px;
  position: relative;
  cursor: grab;
  touch-action: none;
  background-color: var(--tro-sunken);
  background-image: radial-gradient(var(--tro-line) 1px, transparent 1px);
  background-size: 16px 16px;
}
.tro-canvas:focus-visible { outline-offset: -3px; }
.tro-canvas:active { cursor: grabbing; }
.tro-canvas > svg { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; display: block; user-select: none; }
.tro-toolbar[data-over] { position: absolute; inset-block-end: 0; inset-inline-end: 0; padding: 8px; }
.tro-state > rect { fill: var(--tro-card); stroke: var(--tro-edge); stroke-width: 1.25; }
.tro-state > .tro-inner { fill: none; }
.tro-state[data-compound] > rect { fill: light-dark(rgb(255 255 255 / 0.6), rgb(255 255 255 / 0.025)); stroke: var(--tro-line); }
.tro-state > text { fill: var(--tro-text); font: 500 13px var(--tro-font); }
.tro-state[data-compound] > text { fill: var(--tro-muted); }
.tro-state[data-active] > rect { fill: var(--tro-accent); stroke: var(--tro-accent); }
.tro-state[data-active] > .tro-inner { stroke: var(--tro-on-accent); }
.tro-state[data-active] > text { fill: var(--tro-on-accent); font-weight: 600; }
.tro-state[data-active][data-compound] > rect { fill: var(--tro-accent-soft); fill-opacity: 0.6; stroke: var(--tro-accent); }
.tro-state[data-active][data-compound] > text { fill: var(--tro-accent); }
.tro-start, .tro-arrow { fill: var(--tro-edge); }
.tro-edge { fill: none; stroke: var(--tro-edge); stroke-width: 1.25; }
.tro-edge[data-live] { stroke: var(--tro-accent); stroke-width: 1.5; }
.tro-arrow[data-kind="live"] { fill: var(--tro-accent); }
.tro-edge-label > rect { fill: var(--tro-sunken); fill-opacity: 0.88; }
.tro-edge-label > text { fill: var(--tro-muted); font: 11px var(--tro-font); }
.tro-edge-label[data-live] > text { fill: var(--tro-accent); }
.tro-live-chart { display: flex; flex-direction: column; }
.tro-live-chart > .tro-toolbar { justify-content: flex-end; padding-block-end: 0; }
.tro-live-chart > .tro-toolbar > .tro-active { flex: 1 1 0; min-inline-size: 0; padding: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--tro-muted); }
.tro-live-chart > .tro-chart { flex: 1 1 auto; }
.tro-turn-chart { display: block; inline-size: 100%; max-inline-size: 700px; max-block-size: 190px; margin-inline: auto; padding: 4px 16px 12px; }
.tro-state[data-visited]:not([data-active], [data-compound]) > rect { stroke: var(--tro-accent); }
.tro-state[data-active][data-tone="warn"] > rect { fill: var(--tro-warn); stroke: var(--tro-warn); }
.tro-state[data-active][data-tone="warn"] > text:not(.tro-times) { fill: light-dark(#ffffff, #241a06); }
.tro-state > .tro-times, .tro-state[data-active] > .tro-times { fill: var(--tro-muted); font: 500 11px var(--tro-font); }
`
