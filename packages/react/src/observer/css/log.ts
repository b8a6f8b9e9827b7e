/** The log of a conversation. */
export const logCss = `
.tro-log { display: flex; flex-direction: column; }
.tro-entry { padding: 10px 16px; display: flex; flex-direction: column; gap: 4px; }
.tro-entry + .tro-entry { border-block-start: 1px solid var(--tro-line); }
.tro-entry-head { display: flex; align-items: baseline; gap: 8px; }
.tro-seq { font-weight: 600; color: var(--tro-accent); }
.tro-entry-head time { margin-inline-start: auto; font-size: 12px; }
.tro-standing { color: var(--tro-muted); min-inline-size: 0; overflow-wrap: anywhere; }
.tro-entry[data-kind="rewound"] .tro-standing, .tro-entry[data-kind="forked"] .tro-standing { color: var(--tro-warn); font-weight: 500; }
.tro-entry[data-off] :is(.tro-seq, .tro-standing, .tro-said) { color: var(--tro-muted); font-weight: 400; }
.tro-said { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; overflow-wrap: anywhere; }
.tro-said > span { color: var(--tro-muted); font-size: 12px; margin-inline-end: 4px; }
.tro-entry .tro-actions { margin-block-start: 2px; }
.tro-entry .tro-button[data-danger]:not([data-solid]) { color: var(--tro-text); }
.tro-pager { display: flex; justify-content: space-between; align-items: center; gap: 8px; padding: 8px 16px; border-block-start: 1px solid var(--tro-line); margin-block-start: auto; }
`
