/** The timeline of a turn. */
export const timelineCss = `
.tro-timeline { display: flex; flex-direction: column; }
.tro-timeline > .tro-scroll { margin: 0 16px 16px; max-block-size: none; flex: 0 1 auto; min-block-size: 120px; }
.tro-turn-name { flex: 1 1 auto; min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 500; padding-inline-start: 4px; }
.tro-bars { --name: clamp(88px, 24%, 190px); padding: 0 16px 4px; display: flex; flex-direction: column; gap: 3px; }
.tro-axis { position: relative; block-size: 20px; margin-inline-start: calc(var(--name) + 8px); color: var(--tro-muted); font-size: 11px; border-block-end: 1px solid var(--tro-line); overflow: clip; overflow-clip-margin: 2px; }
.tro-axis > span { position: absolute; padding-inline-start: 5px; border-inline-start: 1px solid var(--tro-line); line-height: 20px; white-space: nowrap; }
.tro-track { display: flex; align-items: center; gap: 8px; }
.tro-track-name { flex: none; inline-size: var(--name); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12px; color: var(--tro-muted); }
.tro-row-about { color: var(--tro-muted); }
.tro-track-name:has(.tro-row-about) { color: var(--tro-text); }
.tro-lane { position: relative; flex: 1 1 auto; block-size: 22px; border-radius: 5px; background: var(--tro-sunken); }
.tro-bar {
  min-block-size: 0;
  --bar: var(--tro-edge);
  position: absolute;
  inset-block: 3px;
  min-inline-size: 3px;
  padding: 0;
  border: 0;
  border-radius: 4px;
  background: var(--bar);
  cursor: pointer;
}
.tro-swatch { --bar: var(--tro-edge); display: inline-block; inline-size: 12px; block-size: 8px; border-radius: 2px; background: var(--bar); }
:is(.tro-bar, .tro-swatch)[data-kind="turn"] { --bar: light-dark(#97a2b2, #5d6979); }
:is(.tro-bar, .tro-swatch)[data-kind="stream"] { --bar: light-dark(#4a60dd, #7f95fb); }
:is(.tro-bar, .tro-swatch)[data-kind="delay"] { background: repeating-linear-gradient(90deg, light-dark(#c87c0a, #e5a93f) 0 2px, light-dark(#f6e3c2, #5c4415) 2px 8px); }
:is(.tro-bar, .tro-swatch)[data-kind="queue"] { --bar: transparent; box-shadow: inset 0 0 0 1.5px var(--tro-edge); }
:is(.tro-bar, .tro-swatch)[data-kind="call"] { --bar: light-dark(#1e9e76, #3fb592); }
:is(.tro-bar, .tro-swatch)[data-kind="drain"] { background: repeating-linear-gradient(135deg, light-dark(#c87c0a, #e5a93f) 0 4px, light-dark(#e9b765, #9a6d1c) 4px 8px); }
:is(.tro-bar, .tro-swatch)[data-kind="zombie"] { background: repeating-linear-gradient(135deg, light-dark(#8a5300, #f2be63) 0 3px, light-dark(#f3d9ae, #5c4415) 3px 9px); }
.tro-bar[data-bad]::after { content: ""; position: absolute; inset-block: -3px; inset-inline-end: 0; inline-size: 3px; border-radius: 2px; background: var(--tro-bad); }
.tro-bar[data-open] { border-start-end-radius: 0; border-end-end-radius: 0; }
.tro-bar[data-open]::after { content: ""; position: absolute; inset-block: -2px; inset-inline-end: -1px; inline-size: 2px; background: var(--tro-text); animation: tro-blink 1.2s steps(2) infinite; }
@keyframes tro-blink { to { opacity: 0.2; } }
.tro-tip {
  position: absolute;
  inset-block-end: calc(100% + 4px);
  z-index: 2;
  max-inline-size: min(320px, 90cqi);
  inline-size: max-content;
  padding: 6px 10px;
  border-radius: 7px;
  background: light-dark(#1b212b, #e9edf3);
  color: light-dark(#f4f6f9, #171c24);
  font-size: 12px;
  line-height: 1.35;
  pointer-events: none;
}
.tro-track:nth-child(-n + 3) .tro-tip { inset-block: calc(100% + 4px) auto; }
.tro-legend { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--tro-muted); font-size: 12px; margin-block-start: auto; }
.tro-legend { padding: 8px 16px 12px; }
.tro-legend li { display: flex; align-items: center; gap: 6px; }
.tro-age { position: absolute; inset-block: 0; inset-inline-start: 4px; padding-inline: 4px; border-radius: 3px; background: var(--tro-warn-soft); color: var(--tro-warn); font: 600 11px/16px var(--tro-font); white-space: nowrap; }
`
